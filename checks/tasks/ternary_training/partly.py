"""A gradient of the latent weights that is wrong in a part of them, or counts a batch's rows otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.grouping import groupings, mean_scale
from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["GETTING", "OTHER_SHARES", "counted_rows", "told_counts", "wrong_part"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: What comes between a part and what stands there.
GETTING = ": they get"
OTHER_SHARES = "the rows of the batch count by other shares in it than 1 each"
#: How far an entry may be off, relatively to the largest, and how many of a part's entries may be right.
_OFF, _BY_CHANCE = 1e-5, 0.03
#: Entries that must lie beyond a border that is read off.
_FEWEST = 12
#: How far what stands in a part may be off, relatively.
_SAME = 1e-3
#: Rows of a batch whose counts can be read off, and how near they are to them.
_MOST_ROWS, _NEAR = 64, 1e-3


def wrong_part(dweight: Array, through: Array, weight: Array, transposed: bool) -> str:
    """Which entries alone are wrong, and what stands there, as a clause; empty where no part is known.

    Args:
        dweight: The submission's gradient (out, in).
        through: dL/dW_projected, the truth.
        weight: The latent weights.
        transposed: Whether the submission stores (in, out).
    """
    wrong = np.abs(dweight - through) > _OFF * max(float(np.abs(through).max()), 1e-300)
    if wrong.all() or not wrong.any():
        return ""
    for words, part, projected in (
        *_parts(weight, through, transposed), *_beyond(wrong, weight, through, transposed)
    ):  # fmt: skip
        inside = int(part.sum())
        if (wrong & ~part).any() or not inside or (~wrong & part).sum() > _BY_CHANCE * inside:
            continue
        what = _standing(dweight[part], through[part], weight[part], projected[part])
        return f"only entries {words} are wrong" + (f"{GETTING} {what}" if what else "")
    return ""


def _parts(weight: Array, through: Array, transposed: bool) -> Iterator[tuple[str, Mask, Array]]:
    """Parts in words, which entries are of them, and the projected weights; the likelier first."""
    out, width = weight.shape
    rows, columns = np.arange(out)[:, None], np.arange(width)[None, :]
    projected = weight
    for grouping in groupings(transposed, GROUP):
        s = mean_scale(weight, grouping, transposed).values
        level = np.clip(np.round(weight / np.where(s > 0, s, 1.0)), -1, 1)
        projected = s * level
        for value in (0, 1, -1):
            yield f"whose level is {value}", level == value, projected
        yield "whose level is not 0", level != 0, projected
        yield "with |W| > s", np.abs(weight) > s, projected
        yield "with |W| > 1.5·s", np.abs(weight) > 1.5 * s, projected
    for words, part in (
        ("with |W| > 1", np.abs(weight) > 1), ("with W below zero", weight < 0),
        ("with W above zero", weight > 0), ("that are below zero themselves", through < 0),
        ("that are above zero themselves", through > 0),
    ):  # fmt: skip
        yield words, part, projected
    for name, places, count in (("output", rows, out), ("input", columns, width)):
        everywhere = np.ones(weight.shape, dtype=bool)
        yield f"of the first {name}", (places == 0) & everywhere, projected
        yield f"of the last {name}", (places == count - 1) & everywhere, projected
        for unit in (GROUP, 64, 32, 16, 8, 4, 2):
            if unit < count:
                part = (places >= count // unit * unit) & everywhere
                yield f"of {name}s behind the last multiple of {unit}", part, projected
                yield f"of {name}s from {unit} on", (places >= unit) & everywhere, projected
                yield f"of the first {unit} {name}s", (places < unit) & everywhere, projected
    yield "on the diagonal", rows == columns, projected


def _beyond(
    wrong: Mask, weight: Array, through: Array, transposed: bool
) -> Iterator[tuple[str, Mask, Array]]:
    """Entries on one side of a border that is read off."""
    s = mean_scale(weight, groupings(transposed, GROUP)[0], transposed).values
    safe = np.where(s > 0, s, 1.0)
    projected = s * np.clip(np.round(weight / safe), -1, 1)
    for name, unit, value in (
        ("|W|", "·s", np.abs(weight) / safe), ("|W|", "", np.abs(weight)), ("W", "·s", weight / safe),
        ("W", "", weight), ("a size", "", np.abs(through)), ("s", "", s),
    ):  # fmt: skip
        for side, edge, part in (
            ("above", value[wrong].min(), value >= value[wrong].min()),
            ("below", value[wrong].max(), value <= value[wrong].max()),
        ):
            if (~part).sum() >= _FEWEST:
                yield f"with {name} {side} {_border(value, ~part, float(edge))}{unit}", part, projected


def _border(value: Array, others: Mask, edge: float) -> str:
    """The number with the fewest digits that lies between a part's edge and the values beyond it."""
    beside = float(value[others].max()) if (value[others] < edge).any() else float(value[others].min())
    low, high = sorted((edge, beside))
    for digits in range(1, 6):
        if low <= (told := float(f"{(low + high) / 2:.{digits}g}")) <= high:
            return f"{told:g}"
    return f"{edge:.6g}"


def _standing(given: Array, truth: Array, weight: Array, projected: Array) -> str:
    """What stands in a part in place of the truth."""
    if not given.any():
        return "none"
    for words, value in (
        ("the latent weight itself", weight), ("the projected weight", projected),
        ("theirs with the sign turned", -truth), ("W times theirs", weight * truth),
        ("the projected weight times theirs", projected * truth),
        ("theirs and the latent weight", truth + weight),
        ("the sign of theirs", np.sign(truth)), ("their size without the sign", np.abs(truth)),
    ):  # fmt: skip
        if np.allclose(given, value, rtol=_SAME, atol=_SAME * float(np.abs(value).max())):
            return words
    factor = float((given * truth).sum() / max(float((truth * truth).sum()), 1e-300))
    if np.allclose(given, factor * truth, rtol=_SAME, atol=_SAME * float(np.abs(given).max())):
        return f"theirs times {factor:.4g}"
    if np.ptp(given) == 0:
        return f"{given.flat[0]:.4g} each"
    return ""


def counted_rows(dweight: Array, dy: Array, x: Array) -> str:
    """How rows of the batch count in a gradient that is a sum over them, as a clause; empty where it is none.

    Args:
        dweight: The submission's gradient (out, in).
        dy: (B, out).
        x: (B, in).
    """
    rows = len(x)
    if rows < 2:
        return ""
    for words, paired in (
        ("the row behind it", np.roll(x, -1, axis=0)), ("the row before it", np.roll(x, 1, axis=0)),
        ("the row at its place from the end", x[::-1]), ("the first row", np.repeat(x[:1], rows, axis=0)),
        ("the mean of all rows", np.repeat(x.mean(axis=0, keepdims=True), rows, axis=0)),
    ):  # fmt: skip
        if _same(dweight, dy.T @ paired):
            return f"dy of each row is multiplied by x of {words}"
    for words, changed, other in (
        ("dy above 0 alone counts", np.maximum(dy, 0), x), ("dy below 0 alone counts", np.minimum(dy, 0), x),
        ("x above 0 alone counts", dy, np.maximum(x, 0)), ("|x| stands for x", dy, np.abs(x)),
        ("|dy| stands for dy", np.abs(dy), x), ("the sign of dy stands for it", np.sign(dy), x),
        ("the sign of x stands for it", dy, np.sign(x)), ("dy is cut to ±1", np.clip(dy, -1, 1), x),
        ("x is cut to ±1", dy, np.clip(x, -1, 1)), ("the mean of x is taken off it", dy, x - x.mean()),
        ("the mean of each row of x is taken off it", dy, x - x.mean(axis=1, keepdims=True)),
        ("the mean of x over the batch is taken off it", dy, x - x.mean(axis=0)),
        ("the mean of dy over the batch is taken off it", dy - dy.mean(axis=0), x),
    ):  # fmt: skip
        if _same(dweight, changed.T @ other):
            return words
    if rows > _MOST_ROWS:
        return ""
    terms = np.einsum("bo,bi->boi", dy, x).reshape(rows, -1).T
    counts = np.linalg.lstsq(terms, dweight.ravel(), rcond=None)[0]
    if not _same(dweight.ravel(), terms @ counts) or np.ptp(counts) < _NEAR:
        return ""
    if np.abs(counts - np.round(counts)).max() > _NEAR:
        return OTHER_SHARES
    return told_counts(np.round(counts).astype(int))


def told_counts(whole: npt.NDArray[np.int64]) -> str:
    """How often each row of the batch counts, as a clause; not all of them are 1."""
    odd = np.flatnonzero(whole != 1)
    name, one = f"{_named(odd, len(whole))} of the batch", len(odd) == 1
    if not whole[odd].any():
        return f"{name} {'is' if one else 'are'} left out of it"
    if (whole[odd] != whole[odd[0]]).any():
        return "the rows of the batch count other numbers of times in it than once each"
    return f"{name} count{'s' if one else ''} {whole[odd[0]]} times in it"


def _named(odd: npt.NDArray[np.int64], rows: int) -> str:
    """Rows by their places."""
    places = set(odd.tolist())
    for words, which in (
        ("the first row", {0}), ("the last row", {rows - 1}), ("all rows but the first", set(range(1, rows))),
        ("all rows but the last", set(range(rows - 1))), ("every other row", set(range(1, rows, 2))),
    ):  # fmt: skip
        if places == which:
            return words
    shown = ", ".join(f"{row}" for row in odd[:4]) + (", …" if len(odd) > 4 else "")
    return f"row{'' if len(odd) == 1 else 's'} {shown}"


def _same(one: Array, other: Array) -> bool:
    size = float(np.linalg.norm(other))
    return size > 0 and bool(np.linalg.norm(one - other) <= _NEAR * size)
