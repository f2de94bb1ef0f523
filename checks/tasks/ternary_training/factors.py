"""Factors by which entries of a gradient of the latent weights are off: what they depend on, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.grouping import groupings, mean_scale
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tasks.ternary_training.scale_places import other_groups

__all__ = ["factored"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: Entries under this share of the largest say nothing of their factor, as rounding may have made them.
_SMALL = 1e-3
#: How far a factor may be from what explains it, relatively, and how many entries a part needs.
_SAME, _FEWEST = 1e-4, 12


def factored(dweight: Array, through: Array, weight: Array, transposed: bool) -> str:
    """By what each entry is multiplied, in two parts at most, as a clause; empty where nothing explains it.

    Args:
        dweight: The submission's gradient (out, in).
        through: dL/dW_projected, the truth.
        weight: The latent weights.
        transposed: Whether the submission stores (in, out).
    """
    shown = np.abs(through) > _SMALL * float(np.abs(through).max(initial=0.0))
    factor = np.divide(dweight, through, out=np.zeros(weight.shape), where=shown)
    if shown.sum() < 4 * _FEWEST:
        return ""
    for s, level in _scales(weight, transposed):
        terms = dict(_terms(weight, s, level))
        if told := _form(factor, terms, shown):
            return f"each entry is multiplied by {told}"
        for inside, outside, part in _parts(weight, s, level):
            halves = [shown & part, shown & ~part]
            if min(half.sum() for half in halves) < _FEWEST:
                continue
            one, other = (_form(factor, terms, half) for half in halves)
            if one and other:
                return f"entries {inside} are multiplied by {one}, those {outside} by {other}"
        if told := _by_group(factor, shown, weight, s):
            return told
    return ""


def _by_group(factor: Array, shown: Mask, weight: Array, s: Array) -> str:
    """Factors that groups along the inputs have of their own: scales of other groups may be in them."""
    whole = np.ones(weight.shape)
    for start in range(0, weight.shape[1], GROUP):
        part = slice(start, start + GROUP)
        count = shown[:, part].sum(axis=1)
        if not count.all():
            return ""
        mean = (factor[:, part] * shown[:, part]).sum(axis=1) / count
        whole[:, part] = mean[:, None]
    if np.abs(factor - whole)[shown].max() > _SAME * float(np.abs(whole).max()):
        return ""
    for words, other in (("divided by its own scale and multiplied by", s * whole),
                         ("multiplied by its own scale and divided by", s / whole)):  # fmt: skip
        if whole.min() > 0 and (told := other_groups([(weight, other)], GROUP)):
            return f"{told.partition('has the')[0]}is {words} the{told.partition('has the')[2]}"
    return "each group of it is multiplied by a number of its own"


def _scales(weight: Array, transposed: bool) -> Iterator[tuple[Array, Array]]:
    """S of each weight and its level, by every grouping that is allowed."""
    for grouping in groupings(transposed, GROUP):
        s = mean_scale(weight, grouping, transposed).values
        safe = np.where(s > 0, s, 1.0)
        yield safe, np.clip(np.round(weight / safe), -1, 1)


def _terms(weight: Array, s: Array, level: Array) -> Iterator[tuple[str, Array]]:
    size = np.abs(weight)
    yield "s", s
    yield "|W|", size
    yield "W", weight
    yield "W/s", weight / s
    yield "|W|/s", size / s
    yield "1/s", 1.0 / s
    yield "s²", s * s
    yield "W²", size * size
    yield "the projected weight", s * level
    yield "its level", level
    yield "(W/s)²", (weight / s) ** 2
    yield "exp(-W²)", np.exp(-size * size)
    yield "exp(-|W|)", np.exp(-size)
    yield "1/|W|", 1.0 / np.maximum(size, 1e-300)
    yield "tanh(W/s)²", np.tanh(weight / s) ** 2
    yield "tanh(W)²", np.tanh(weight) ** 2
    yield "sigmoid(W)", 1.0 / (1.0 + np.exp(-weight))
    yield "the distance of W from its projection", np.abs(weight - s * level)
    groups = s[:, ::GROUP]
    if groups.shape[1] > 1:
        tiled = np.tile(groups, GROUP)[:, : s.shape[1]]
        yield "s over scales that are tiled over the groups, not repeated within each", s / tiled
        yield "scales that are tiled over the groups, not repeated within each, over s", tiled / s
    for name, axis in (("row", 1), ("column", 0)):
        yield f"mean|W| of its {name}", np.broadcast_to(size.mean(axis, keepdims=True), size.shape)
        largest = np.broadcast_to(size.max(axis, keepdims=True), size.shape)
        yield f"max|W| of its {name}", largest


def _parts(weight: Array, s: Array, level: Array) -> Iterator[tuple[str, str, Mask]]:
    """Two parts of the entries in words, and which are of the first."""
    size = np.abs(weight)
    yield "with |W| ≤ 1", "beyond", size <= 1.0
    yield "with |W| ≤ s", "beyond", size <= s
    yield "with |W| ≤ 1.5·s", "beyond", size <= 1.5 * s
    yield "with |W| ≤ 2·s", "beyond", size <= 2.0 * s
    yield "whose level is 0", "of other levels", level == 0
    yield "whose level is 1", "of other levels", level == 1
    yield "whose level is -1", "of other levels", level == -1
    yield "with W above zero", "below it", weight > 0
    yield "with W rounded towards zero", "rounded away from it", size >= s * np.abs(level)


def _form(factor: Array, terms: dict[str, Array], part: Mask) -> str:
    """What a factor is in a part, in words, the plainest first; empty where no form fits."""
    seen = factor[part]
    tolerance = _SAME * max(float(np.abs(seen).max()), 1e-300)
    if np.abs(seen - (mean := float(seen.mean()))).max() <= tolerance:
        return f"{mean:.4g}"
    for name, values in terms.items():
        term = values[part]
        share = float((seen * term).sum() / max(float((term * term).sum()), 1e-300))
        if np.abs(seen - share * term).max() <= tolerance:
            return name if abs(share - 1.0) <= _SAME else f"{share:.4g} times {name}"
    for name, values in terms.items():
        both = np.stack([np.ones(int(part.sum())), values[part]], axis=1)
        (plain, share), _rest, rank, _singular = np.linalg.lstsq(both, seen, rcond=None)
        if rank == 2 and np.abs(seen - plain - share * values[part]).max() <= tolerance:
            sign = "+" if share > 0 else "-"
            times = "" if abs(abs(share) - 1.0) <= _SAME else f"{abs(share):.4g}·"
            named = f"{name}" if len(name) < 12 else f"({name})"
            return f"{plain:.4g} {sign} {times}{named}"
    return ""
