"""By which rule levels were chosen, where it is not the nearest: thresholds by sign, or in other units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.grouping import Grouping, mean_scale, scales
from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["fixed_threshold", "rule_of_levels", "table_of_levels"]

Array = npt.NDArray[Any]

#: Relative width of the gap that may lie between weights that became 0 and those that did not.
_GAP = 0.02
#: The largest weight of rows in which a threshold that hangs on no scale is looked for.
_SIZES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
#: Distance within which two thresholds are one.
_NEAR = 2e-3
#: |W/s| from which on all count as one, and how many of its whole numbers are told.
_LARGEST, _TOLD = 6, 4


def rule_of_levels(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """The rule that explains every level, as a clause; empty where none does.

    Args:
        answers: Latent weights and their projection, (out, in) each, at levels of their own scale.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    own = [mean_scale(weight, grouping, transposed).values for weight, _projected in answers]
    if told := _by_sign(answers, own) or _window(answers, own):
        return told
    if any((weight * projected < 0).any() for weight, projected in answers):
        return ""
    listed = [list(_units(weight, transposed)) for weight, _projected in answers]
    for units in zip(*listed, strict=True):
        at = _threshold([(np.abs(weight), projected, values) for (weight, projected), (_name, values)
                         in zip(answers, units, strict=True)])  # fmt: skip
        if at is not None:
            unit = units[0][0]
            return f"levels change at |W| = {at:.3g}{unit}"
    return ""


def fixed_threshold(project: Callable[[Array], Array], out: int) -> float:
    """The |W| at which levels change, whatever the scale of a row is; 0 where there is none.

    Args:
        project: Latent weights (out, in) → projected ones.
        out: Rows that it takes.
    """
    ramp = np.linspace(1.0 / GROUP, 1.0, GROUP)
    low, high = 0.0, np.inf

    def narrowed(sizes: Array) -> None:
        nonlocal low, high
        weight = np.tile(sizes * np.where(np.arange(GROUP) % 2, -1.0, 1.0), (out, 1))
        zero = project(weight) == 0
        low = max(low, float(np.max(np.abs(weight)[zero], initial=0.0)))
        high = min(high, float(np.min(np.abs(weight)[~zero], initial=np.inf)))

    for largest in _SIZES:
        narrowed(largest * ramp)
    if not 0.0 < low < high < np.inf:
        return 0.0
    narrowed(np.linspace(low, high, GROUP))
    return (low + high) / 2 if low <= high * (1.0 + 1e-6) else 0.0


def table_of_levels(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """What W/s becomes by the whole number that is next to it, as a clause; empty where it has no one value.

    Args:
        answers: As in :func:`rule_of_levels`, at whatever levels.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    seen: dict[int, list[Array]] = {}
    for weight, projected in answers:
        s = mean_scale(weight, grouping, transposed).values
        live = s > 0
        ratio, level = weight[live] / s[live], projected[live] / s[live]
        clear = np.abs(np.abs(ratio - np.round(ratio)) - 0.5) > _NEAR
        whole = np.clip(np.round(ratio[clear]), -_LARGEST, _LARGEST).astype(int)
        for each in np.unique(whole):
            seen.setdefault(int(each), []).append(level[clear][whole == each])
    wrong = []
    for each, parts in sorted(seen.items(), key=lambda item: (abs(item[0]), -item[0])):
        values = np.concatenate(parts)
        if float(np.ptp(values)) > _NEAR:
            if abs(each) == _LARGEST:
                continue
            return ""
        if abs(float(values.mean()) - np.clip(each, -1, 1)) > _NEAR:
            more = " or more" if abs(each) == _LARGEST else ""
            wrong.append(f"{each}{more} becomes {float(values.mean()):.4g}")
    return f"of W/s, rounded, {', '.join(wrong[:_TOLD])}" if wrong else ""


def _units(weight: Array, transposed: bool) -> Iterator[tuple[str, Array]]:
    """In what a threshold may be measured."""
    yield ", whatever s is", np.ones(weight.shape)
    for scale in scales(weight, transposed, GROUP):
        if scale.name.startswith("1"):
            continue
        yield f" times {scale.name}, {scale.grouping.name}", scale.values


def _threshold(answers: Sequence[tuple[Array, Array, Array]]) -> float | None:
    """The one threshold on |W| in given units that parts zeros from others; ``None`` where none does."""
    below, above = 0.0, np.inf
    for size, projected, unit in answers:
        live = unit > 0
        ratio, zero = size[live] / unit[live], projected[live] == 0
        below = max(below, float(np.max(ratio[zero], initial=0.0)))
        above = min(above, float(np.min(ratio[~zero], initial=np.inf)))
        if below > above * (1.0 + 1e-6):
            return None
    apart = np.isfinite(above) and below > 0 and above - below <= _GAP * above
    return float((below + above) / 2) if apart else None


def _by_sign(answers: Sequence[tuple[Array, Array]], own: Sequence[Array]) -> str:
    """Thresholds that positive and negative weights have of their own."""
    found: list[float] = []
    for sign in (1.0, -1.0):
        below, above = 0.0, np.inf
        for (weight, projected), s in zip(answers, own, strict=True):
            live = (s > 0) & (weight * sign > 0)
            ratio, level = sign * weight[live] / s[live], sign * np.round(projected[live] / s[live])
            if (level < 0).any():
                return ""
            below = max(below, float(np.max(ratio[level == 0], initial=0.0)))
            above = min(above, float(np.min(ratio[level > 0], initial=np.inf)))
        if below > above + 1e-4:
            return ""
        found.append(_at(below, above))
    up, down = found
    if abs(up - down) <= _NEAR:
        return ""
    return f"positive weights become s {_from(up)}, negative ones -s {_from(down)}"


def _window(answers: Sequence[tuple[Array, Array]], own: Sequence[Array]) -> str:
    """Levels of small weights and of large ones that are 0, with ±s between."""
    ratios, zeros = [], []
    for (weight, projected), s in zip(answers, own, strict=True):
        live = s > 0
        ratios.append(np.abs(weight[live]) / s[live])
        zeros.append(projected[live] == 0)
    ratio, zero = np.concatenate(ratios), np.concatenate(zeros)
    if zero.all() or not zero.any():
        return ""
    first, last = float(ratio[~zero].min()), float(ratio[~zero].max())
    low, high = ratio[zero & (ratio < first + 1e-4)], ratio[zero & (ratio > last)]
    if len(low) + len(high) < zero.sum() or not len(high):
        return ""
    return f"weights beyond {(last + float(high.min())) / 2:.3g}·s become 0 as well, as small ones do"


def _at(below: float, above: float) -> float:
    """A threshold: 0 where none becomes 0, infinite where all do."""
    if not np.isfinite(above):
        return float("inf")
    return 0.0 if below == 0.0 else (below + above) / 2


def _from(at: float) -> str:
    if at == 0.0:
        return "however small they are"
    return f"from {at:.3g}·s on" if np.isfinite(at) else "never"
