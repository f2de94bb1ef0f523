"""Scales that are not mean|W|: what one number per group was computed by, read off the groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bfloat16 import rounded
from judge_tui.checks.tasks.ternary_training.grouping import Grouping

__all__ = ["scale_of_groups"]

Array = npt.NDArray[Any]
#: |W| of one group, as its weights lie → its scale.
_Rule = Callable[[Array], float]

#: Relative: the rounding of float32, and far below what tells rules apart.
_SAME = 2e-6
#: Groups that must show their scale, and how many are looked at.
_FEWEST, _MOST = 24, 600


def scale_of_groups(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """By what each group's scale was computed, as a clause; empty where it has several, or none is known.

    Args:
        answers: Latent weights and their projection, (out, in) each.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    groups: list[tuple[Array, float]] = []
    for weight, projected in answers:
        for sizes, one in _groups(weight, projected, grouping, transposed):
            if one is None:
                return ""
            if one > 0:
                groups.append((sizes, one))
    if len(groups) < _FEWEST:
        return ""
    step = -(-len(groups) // _MOST)
    groups = groups[::step]
    means = np.array([sizes.mean() for sizes, _seen in groups])
    seen = np.array([each for _sizes, each in groups])
    if told := _of_means(means, seen):
        return f"s is {told}"
    counts = np.array([sizes.sum() for sizes, _seen in groups]) / seen
    if np.ptp(counts) <= _SAME * float(counts.max()):
        return f"s is the sum of |W| of its group over {float(counts.mean()):.5g}, whatever its length is"
    for words, rule in _rules():
        if _same(np.array([rule(sizes) for sizes, _seen in groups]), seen):
            return f"s is {words}"
    return ""


def _groups(
    weight: Array, projected: Array, grouping: Grouping, transposed: bool
) -> Iterator[tuple[Array, float | None]]:
    """|W| of each group and its scale, 0 where no weight shows it and ``None`` where there are several."""
    ids = grouping.ids((weight.shape[0], weight.shape[1]), transposed).ravel()
    order = np.argsort(ids, kind="stable")
    starts = np.flatnonzero(np.diff(ids[order])) + 1
    for sizes, values in zip(
        np.split(np.abs(weight).ravel()[order], starts), np.split(np.abs(projected).ravel()[order], starts),
        strict=True,
    ):  # fmt: skip
        shown = values[values > 0]
        one = not len(shown) or float(np.ptp(shown)) <= _SAME * float(shown.max())
        yield sizes, (float(shown[0]) if len(shown) else 0.0) if one else None


def _of_means(means: Array, seen: Array) -> str:
    """A function of mean|W| alone."""
    live = means > 0
    ratio, rest = seen[live] / means[live], seen - means
    if np.ptp(ratio) <= _SAME * float(ratio.max()):
        return f"{float(ratio.mean()):.6g} times mean|W| of its group"
    if np.ptp(rest) <= 1e-6 * max(float(np.abs(rest).max()), 1e-300) + 1e-9 * float(seen.min()):
        return f"mean|W| of its group and {float(rest.mean()):.4g}"
    low, high = float(seen.min()), float(seen.max())
    if low > 0 and _same(np.maximum(means, low), seen):
        return f"mean|W| of its group, {low:.4g} at least"
    if _same(np.minimum(means, high), seen):
        return f"mean|W| of its group, {high:.4g} at most"
    with np.errstate(over="ignore"):
        for words, made in (
            ("in half precision", means.astype(np.float16).astype(np.float64)),
            ("in bfloat16", _bfloat16(means)),
            ("in bfloat16, cut off", _cut(means)),
            ("rounded to a power of two", 2.0 ** np.round(np.log2(np.maximum(means, 1e-300)))),
            ("rounded down to a power of two", 2.0 ** np.floor(np.log2(np.maximum(means, 1e-300)))),
            ("rounded up to a power of two", 2.0 ** np.ceil(np.log2(np.maximum(means, 1e-300)))),
            *((f"rounded to {digits} decimals", np.round(means, digits)) for digits in range(7)),
        ):  # fmt: skip
            if _same(made, seen):
                return f"mean|W| of its group, {words}"
    for words, changed in (
        ("the square of mean|W|", means**2), ("the root of mean|W|", np.sqrt(means)),
        ("1 / mean|W|", 1.0 / np.maximum(means, 1e-300)),
    ):  # fmt: skip
        if _same(changed, seen):
            return f"{words} of its group"
    return ""


def _bfloat16(values: Array) -> Array:
    return np.array(rounded(values), dtype=np.float64)


def _cut(values: Array) -> Array:
    bits = np.asarray(values, dtype=np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).astype(np.float64)


def _same(values: Array, seen: Array) -> bool:
    return bool((np.abs(values - seen) <= _SAME * seen).all())


def _rules() -> Iterator[tuple[str, _Rule]]:
    """What is taken of a group in place of all of it, in words."""
    for count in (1, 2, 4, 8, 16, 32, 64, 96, 100, 120, 127):
        yield f"mean|W| of the first {count} weights of its group", _mean(slice(0, count))
        yield f"mean|W| of the last {count} weights of its group", _mean(slice(-count, None))
    yield "mean|W| of its group without the first weight", _mean(slice(1, None))
    yield "mean|W| of its group without the last weight", _mean(slice(0, -1))
    for step in (2, 4, 8, 16, 32):
        yield f"mean|W| of every {step}th weight of its group", _mean(slice(None, None, step))
    for less in (1, 2):
        yield f"the sum of |W| of its group over its length less {less}", _less(less)
    yield "the root of the sum of squares of its group", lambda sizes: float(np.sqrt((sizes**2).sum()))
    yield "the mean of the squares of its group", lambda sizes: float((sizes**2).mean())
    yield "the mean of the largest and the smallest |W| of its group", _middle
    for share in (0.5, 0.7, 0.75):
        words = f"mean|W| of those weights of its group alone that are beyond {share:g} times its mean|W|"
        yield words, _above(share)
    yield "the smallest |W| of its group", lambda sizes: float(sizes.min())
    yield (
        "the geometric mean of |W| of its group",
        lambda sizes: float(np.exp(np.log(np.maximum(sizes, 1e-300)).mean())),
    )
    for percent in (25, 75, 90, 95, 99):
        yield f"the {percent}th percentile of |W| of its group", _percentile(percent)


def _mean(part: slice) -> _Rule:
    return lambda sizes: float(sizes[part].mean()) if len(sizes[part]) else float(sizes.mean())


def _less(less: int) -> _Rule:
    return lambda sizes: float(sizes.sum()) / max(len(sizes) - less, 1)


def _middle(sizes: Array) -> float:
    return float(sizes.max() + sizes.min()) / 2


def _above(share: float) -> _Rule:
    def rule(sizes: Array) -> float:
        beyond = sizes[sizes > share * sizes.mean()]
        return float(beyond.mean()) if len(beyond) else 0.0

    return rule


def _percentile(percent: float) -> _Rule:
    return lambda sizes: float(np.percentile(sizes, percent))
