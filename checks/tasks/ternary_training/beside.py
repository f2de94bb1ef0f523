"""What wrong gradients of the input and of the bias are instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.causes import cause
from judge_tui.checks.tasks.ternary_training.draws import Draw
from judge_tui.checks.tasks.ternary_training.grouping import groupings, mean_scale
from judge_tui.checks.tasks.ternary_training.levels import Answer
from judge_tui.checks.tasks.ternary_training.operands import other_operand
from judge_tui.checks.tasks.ternary_training.partly import told_counts
from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["ZERO", "of_bias", "of_input", "parts_of"]

Array = npt.NDArray[Any]

ZERO = "it is 0"
#: A formula that explains a gradient this well is what was computed.
_SAME = 1e-4


def of_input(dx: Array, dy: Array, weight: Array, effective: Array, transposed: bool) -> tuple[str, ...]:
    """What dx may be in place of dy·W_projected, as clauses; none for what is not known.

    Args:
        dx: The submission's gradient (B, in).
        dy: (B, out).
        weight: The latent weights (out, in).
        effective: What the forward multiplies by, (out, in).
        transposed: Whether the submission stores (in, out).
    """
    if not np.isfinite(dx).all():
        return ("it is not finite",)
    if not dx.any():
        return (ZERO,)
    right = dy @ effective
    for words, other in _weights(weight, effective, transposed):
        if _near(dx, dy @ other):
            return (f"through the {words} in place of the projected ones",)
    rows = len(dy)
    for words, made in (
        ("its sign is turned", -right), ("it is divided by the number of rows of the batch", right / rows),
        ("it is the mean of all rows' in each row", np.broadcast_to(right.mean(axis=0), right.shape)),
        ("it is the sum of all rows' in each row", np.broadcast_to(right.sum(axis=0), right.shape)),
        ("each row's is that of the row before it", np.roll(right, 1, axis=0)),
        ("each row's is that of the row behind it", np.roll(right, -1, axis=0)),
        ("its rows come in reverse order", right[::-1]),
    ):  # fmt: skip
        if _near(dx, made):
            return (words,)
    factor = float((dx * right).sum() / max(float((right * right).sum()), 1e-300))
    if _near(dx, factor * right):
        return (f"it is multiplied by {factor:.4g}",)
    if parts := parts_of(dx, right):
        return parts
    if told := other_operand(dx.T, effective.T, dy, "dy", turned=True):
        return (told,)
    if rows < len(effective):
        return ()
    through = np.linalg.lstsq(dy, dx, rcond=None)[0]
    if not _near(dx, dy @ through):
        return ()
    told = cause([Answer(Draw("", weight), through)], transposed)
    return (f"through other weights than the projected ones{f': {told}' if told else ''}",)


def _weights(weight: Array, effective: Array, transposed: bool) -> Iterator[tuple[str, Array]]:
    """Other weights that dy may have been multiplied by."""
    yield "latent weights", weight
    yield "sizes of the projected weights", np.abs(effective)
    yield "signs of the latent weights", np.sign(weight)
    for grouping in groupings(transposed, GROUP):
        s = mean_scale(weight, grouping, transposed).values
        safe = np.where(s > 0, s, 1.0)
        level = np.clip(np.round(weight / safe), -1, 1)
        yield "levels, without their scale,", level
        yield "projected weights, scaled twice,", s * s * level
        yield "levels over their scale", level / safe
        yield "latent weights over their scale", weight / safe
        yield "latent weights, cut to ±s,", np.clip(weight, -s, s)
        yield "weights less their projection", weight - effective


def parts_of(dx: Array, right: Array) -> tuple[str, ...]:
    """Which rows or inputs alone are wrong, in all words that fit."""
    wrong = np.abs(dx - right) > _SAME * max(float(np.abs(right).max()), 1e-300)
    found: list[str] = []
    for axis, word in ((1, "row"), (0, "input")):
        lost = wrong.any(axis=axis)
        places, count = np.flatnonzero(lost), len(lost)
        if not len(places) or len(places) == count:
            continue
        what = "0" if not (dx[lost] if axis else dx[:, lost]).any() else "wrong"
        first, behind = int(places[0]), len(places) == count - int(places[0])
        units = [unit for unit in (GROUP, 64, 32, 16, 8, 4, 2) if behind and first == count // unit * unit]
        found.extend(f"{word}s behind the last multiple of {unit} alone are {what}" for unit in units)
        if len(places) == 1:
            named = "the last" if behind else "the first" if first == 0 else ""
            found.append(f"{named} {word} alone is {what}" if named else f"{word} {first} alone is {what}")
        elif behind:
            found.append(f"{word}s from {first} on alone are {what}")
        elif len(places) <= count // 2:
            found.append(f"{len(places)} of {count} {word}s alone are {what}")
    return tuple(found)


def of_bias(dbias: Array, dy: Array) -> tuple[str, ...]:
    """What dbias may be in place of Σ dy, as clauses; none for what is not known.

    Args:
        dbias: The submission's gradient (out,).
        dy: (B, out).
    """
    rows, right = len(dy), dy.sum(axis=0)
    if not np.isfinite(dbias).all():
        return ("it is not finite",)
    if not dbias.any():
        return (ZERO,)
    found: list[str] = []
    for words, made in (
        ("its sign is turned", -right), ("it is the mean over the batch", right / rows),
        ("it is the number of rows: 1 stands for dy, whatever it is", np.full(right.shape, float(rows))),
        ("it is the first row's", dy[0]), ("it is the last row's", dy[-1]),
        ("it is doubled", 2.0 * right), ("it is the sum of |dy|", np.abs(dy).sum(axis=0)),
        ("it is the sum of dy²", (dy * dy).sum(axis=0)), ("it is the largest of a column", dy.max(axis=0)),
        ("it is the sum over everything", np.full(right.shape, dy.sum())),
        ("it is the mean over everything", np.full(right.shape, dy.mean())),
    ):  # fmt: skip
        if _near(dbias, made):
            found.append(words)
    factor = float((dbias * right).sum() / max(float((right * right).sum()), 1e-300))
    if not found and _near(dbias, factor * right):
        return (f"it is multiplied by {factor:.4g}",)
    if 1 < rows < dy.shape[1]:
        counts = np.linalg.lstsq(dy.T, dbias, rcond=None)[0]
        whole = np.round(counts).astype(int)
        if _near(dbias, dy.T @ counts) and np.abs(counts - whole).max() < 1e-3 and (whole != 1).any():
            found.append(told_counts(whole))
    return tuple(found)


def _near(one: Array, other: Array) -> bool:
    size = float(np.linalg.norm(other))
    return size > 0 and bool(np.linalg.norm(one - other) <= _SAME * size)
