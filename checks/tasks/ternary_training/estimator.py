"""What a gradient of the latent weights is when it is not the identity's: known mistakes, by formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.factors import factored
from judge_tui.checks.tasks.ternary_training.grouping import groupings, mean_scale
from judge_tui.checks.tasks.ternary_training.operands import other_operand
from judge_tui.checks.tasks.ternary_training.partly import GETTING, OTHER_SHARES, counted_rows, wrong_part
from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["cause"]

Array = npt.NDArray[Any]

#: A formula that explains a gradient this well is what was computed.
_SAME = 1e-4


def cause(
    dweight: Array,
    through: Array,
    weight: Array,
    x: Array,
    dy: Array,
    transposed: bool,
    others: Mapping[str, Array] | None = None,
) -> str:
    """What was computed in place of dL/dW_projected, as a clause; empty for what is not known.

    Args:
        dweight: The submission's gradient (out, in).
        through: dL/dW_projected, the truth.
        weight: The latent weights.
        x: (B, in).
        dy: (B, out).
        transposed: Whether the submission stores (in, out).
        others: What else than dy may have been multiplied by x, by its name, (B, out).
    """
    if not np.isfinite(dweight).all():
        return "it is not finite"
    if not dweight.any():
        return "no gradient reaches the latent weights"
    for clause, gradient in _mistakes(through, weight, len(x), transposed):
        if _same(dweight, gradient):
            return clause
    if general := _general(dweight, through, weight):
        return general
    part = wrong_part(dweight, through, weight, transposed)
    if part and GETTING in part:
        return part
    told = counted_rows(dweight, dy, x)
    if not told or told == OTHER_SHARES:
        told = _operands(dweight, x, dy, others or {}) or told
    if told := told or factored(dweight, through, weight, transposed) or part:
        return told
    if np.array_equal(np.sort(dweight, axis=None), np.sort(through, axis=None)):
        return "its entries stand in another order"
    if np.count_nonzero(dweight) < 0.95 * dweight.size and np.allclose(
        dweight[dweight != 0], through[dweight != 0], rtol=1e-4
    ):
        return f"{np.mean(dweight == 0):.0%} of the entries get no gradient, the others get theirs"
    return ""


def _operands(dweight: Array, x: Array, dy: Array, others: Mapping[str, Array]) -> str:
    """What stands for dy or for x in it, as a clause; a plain exchange before factors of its rows."""
    for forms_alone in (True, False):
        if told := other_operand(dweight.T, x.T, dy, "dy", others=others, forms_alone=forms_alone):
            return told
        if told := other_operand(dweight, dy.T, x, "x", forms_alone=forms_alone):
            return told
    return ""


def _general(dweight: Array, through: Array, weight: Array) -> str:
    """What was made of the right gradient, by a number that is read off, as a clause."""
    edge = float(np.abs(dweight).max())
    if _same(dweight, np.clip(through, -edge, edge)):
        return f"its entries are cut to ±{edge:.4g}"
    if through.shape[0] == through.shape[1] and _same(dweight, through.T):
        return "it comes transposed"
    if _same(dweight, through - through.mean()):
        return "its mean is taken off it"
    if np.ptp(dweight) <= _SAME * edge:
        return f"each entry of it is {dweight.mean():.4g}"
    factor = _share(dweight, through)
    length = float(np.linalg.norm(dweight))
    if _same(dweight, factor * through) and abs(length - float(f"{length:.2g}")) <= 1e-6 * length:
        return f"the whole of it is brought to length {length:.2g}"
    if _same(dweight, factor * through):
        return f"it is multiplied by {factor:.4g}"
    rest = dweight - through
    if _same(rest, (decay := _share(rest, weight)) * weight):
        return f"{decay:.4g} times the latent weights are added to it"
    for axis, words in ((1, "row"), (0, "column")):
        factors = (dweight * through).sum(axis, keepdims=True) / np.maximum(
            (through * through).sum(axis, keepdims=True), 1e-300
        )
        length = np.maximum(np.linalg.norm(through, axis=axis, keepdims=True), 1e-300)
        if _same(dweight, through / length):
            return f"each {words} of it is brought to length 1"
        if _same(dweight, factors * through):
            return f"each {words} of it is multiplied by a number of its own"
        if _same(dweight, through - through.mean(axis, keepdims=True)):
            return f"the mean of each {words} is taken off it"
    return ""


def _share(values: Array, by: Array) -> float:
    return float((values * by).sum() / max(float((by * by).sum()), 1e-300))


def _same(one: Array, other: Array) -> bool:
    size = float(np.linalg.norm(other))
    return size > 0 and bool(np.linalg.norm(one - other) <= _SAME * size)


def _mistakes(through: Array, weight: Array, rows: int, transposed: bool) -> Iterator[tuple[str, Array]]:
    size = np.abs(weight)
    yield "its sign is turned", -through
    yield "it is divided by the number of rows of the batch", through / rows
    yield "it is doubled", 2.0 * through
    yield "its signs alone come through: each entry is -1, 0 or 1", np.sign(through)
    yield "it is multiplied by 1 - tanh²(W)", through * (1.0 - np.tanh(weight) ** 2)
    yield "it is multiplied by |W|", through * size
    yield "it is multiplied by W", through * weight
    yield "it is clipped: entries with |W| > 1 get none", through * (size <= 1.0)
    for grouping in groupings(transposed, GROUP):
        s = mean_scale(weight, grouping, transposed).values
        safe = np.where(s > 0, s, 1.0)
        level = np.clip(np.round(weight / safe), -1, 1)
        yield "it is clipped: entries with |W| > s get none", through * (size <= s)
        yield "it is clipped: entries with |W| > 1.5·s get none", through * (size <= 1.5 * s)
        yield "entries whose level is 0 get none", through * (level != 0)
        yield (
            "entries whose level is not 0 get none, as behind a clip that stops at its ends",
            through * (level == 0),
        )
        yield "it is multiplied by the projected weights", through * s * level
        yield "it is multiplied by |projected weight|", through * s * np.abs(level)
        yield "it is multiplied by the scale where the level is not 0", through * np.where(level, s, 1.0)
        yield (
            "it is multiplied by the scale where the level is not 0, and its sign turned where that is -1",
            through * np.where(level, s * level, 1.0),
        )
        yield "it is multiplied by the scale", through * s
        yield "it is divided by the scale", through / safe
        yield "it is multiplied by the level", through * level
        ids = grouping.ids((weight.shape[0], weight.shape[1]), transposed)
        for clause, share in (("", level), (", less W/s", level - weight / safe),
                              (", less clipped W/s", level - np.clip(weight / safe, -1, 1))):  # fmt: skip
            scale = _through_scale(through * share, weight, ids)
            yield f"part of it comes through the scale: sign(W)/n · Σ g·level{clause}", through + scale
            yield f"only what comes through the scale reaches them{clause}", scale
            inside = np.abs(weight) <= safe
            yield (
                f"it is clipped at s, and part of it comes through the scale{clause}",
                through * inside + scale,
            )


def _through_scale(weighted: Array, weight: Array, ids: Array) -> Array:
    """dL/ds of every group, spread over its weights as d mean|W| / dW has it."""
    totals, counts = np.zeros(int(ids.max()) + 1), np.zeros(int(ids.max()) + 1)
    np.add.at(totals, ids, weighted)
    np.add.at(counts, ids, 1.0)
    return np.asarray(np.sign(weight) * (totals / counts)[ids])
