"""What stands in the place of dy, of x or of the weights in a gradient that is a product of two of them.

Where a gradient is a product with one of its two right operands, the other one can be solved for, and told by
what it is made of. Nothing is told of one that no product explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["other_operand", "stands_for"]

Array = npt.NDArray[Any]

#: How far a product may be off, relatively, to be what was computed; what was solved for, from a form of it.
_SAME, _NEAR = 1e-6, 1e-4
#: How far rounding moves an operand, relatively to its largest entry; steps of so many bits.
_ROUNDED, _LEVELS = 0.5, (1, 3, 7, 8, 15, 31, 63, 127, 128, 255)


def other_operand(
    product: Array,
    known: Array,
    right: Array,
    name: str,
    *,
    turned: bool = False,
    others: Mapping[str, Array] | None = None,
    forms_alone: bool = False,
) -> str:
    """What stands for the second operand of a product, as a clause, where the first one is right.

    Args:
        product: What was computed, (m, n).
        known: The first operand, (m, k), k ≤ m: more unknowns than numbers show nothing.
        right: What the second one should have been, (k, n); (n, k) if it is turned.
        name: Of the second operand.
        turned: Whether it comes into the product transposed.
        others: What else may stand there, by its name; of the shape of ``right``.
        forms_alone: Whether factors of its rows and entries are not looked for, nor rounding.

    Returns:
        A clause; empty where it is the right one, no product, or nothing that is known.
    """
    if known.shape[1] > known.shape[0] or not np.isfinite(product).all():
        return ""
    solved, _rest, rank, _singular = np.linalg.lstsq(known, product, rcond=None)
    if rank < known.shape[1] or not _near(known @ solved, product, _SAME):
        return ""
    given = solved.T if turned else solved
    for words, other in (others or {}).items():
        if _near(given, other, _NEAR):
            return f"{words} stands for {name}"
    return stands_for(given, right, name, forms_alone=forms_alone)


def stands_for(given: Array, right: Array, name: str, *, forms_alone: bool = False) -> str:
    """What an operand (B, n) is that is not the right one, as a clause; empty where it is or is unknown.

    Args:
        given: What was used.
        right: What should have been.
        name: Of the operand.
        forms_alone: As in :func:`other_operand`.
    """
    if _near(given, right, _NEAR):
        return ""
    if np.ptp(given) <= _NEAR * max(float(np.abs(given).max()), 1e-300):
        return f"{given.mean():.4g} stands for {name}, whatever it is"
    for words, other in _forms(right):
        if _near(given, other, _NEAR):
            return f"{words.format(name)} stands for {name}"
    return "" if forms_alone else _by_factors(given, right, name) or _rounded(given, right, name)


def _rounded(given: Array, right: Array, name: str) -> str:
    """Whether an operand was rounded: to fewer digits, or to a few levels that are evenly apart."""
    size = float(np.abs(right).max())
    if np.abs(given - right).max() > _ROUNDED * size:
        return ""
    if _near(given, right.astype(np.float16).astype(np.float64), _SAME):
        return f"{name} rounded to float16 stands for it"
    bits = np.abs(right.astype(np.float32)).view(np.uint32)
    cut, half = bits & 0xFFFF0000, (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    if any(_near(np.abs(given), each.view(np.float32).astype(np.float64), _SAME) for each in (half, cut)):
        return f"{name} in the digits of bfloat16 stands for it"
    for levels in _LEVELS:
        number = np.abs(given) * levels / size
        if np.abs(number - np.round(number)).max() <= _NEAR and np.ptp(np.round(number)) > 1:
            return f"{name} rounded to {levels} steps up to its largest stands for it"
    return ""


def _forms(right: Array) -> Iterator[tuple[str, Array]]:
    """What an operand (B, n) may be exchanged for, in words."""
    size, rows = np.abs(right), right.shape[0]
    yield "the sign of {}", np.sign(right)
    yield "|{}|", size
    yield "{}²", right * right
    yield "{}³", right**3
    yield "the square root of |{}|", np.sqrt(size)
    yield "{} where it is above 0, else 0,", np.maximum(right, 0)
    yield "{} where it is below 0, else 0,", np.minimum(right, 0)
    yield "1 where {} is above 0, else 0,", (right > 0).astype(float)
    yield "1 where {} is not 0, else 0,", (right != 0).astype(float)
    yield "{}, cut to ±1,", np.clip(right, -1, 1)
    yield "{}, rounded to a whole number,", np.round(right)
    yield "tanh({})", np.tanh(right)
    yield "the sigmoid of {}", 1 / (1 + np.exp(-right))
    with np.errstate(all="ignore"):
        yield "1/{}", np.where(right == 0, 0, 1 / np.where(right == 0, 1, right))
        powers = np.exp(right - right.max(axis=1, keepdims=True))
        yield "the softmax of {}", powers / powers.sum(axis=1, keepdims=True)
    for axis, words in ((0, "over the batch"), (1, "of each row")):
        mean = np.broadcast_to(right.mean(axis, keepdims=True), right.shape)
        yield f"the mean of {{}} {words}", mean
        yield f"the sum of {{}} {words}", mean * right.shape[axis]
        yield f"{{}} less its mean {words}", right - mean
        yield f"the running sum of {{}} {words}", np.cumsum(right, axis)
        yield (
            f"{{}} over its length {words}",
            right / np.maximum(np.linalg.norm(right, axis=axis, keepdims=True), 1e-300),
        )
        yield f"the largest of {{}} {words}", np.broadcast_to(right.max(axis, keepdims=True), right.shape)
    yield "the first row of {}", np.broadcast_to(right[:1], right.shape)
    yield "the last row of {}", np.broadcast_to(right[-1:], right.shape)
    yield "{} in reverse order of its rows", right[::-1]
    yield "{} in reverse order within each row", right[:, ::-1]
    for axis, word in ((0, "row"), (1, "entry")):
        yield f"{{}} of the {word} before", np.roll(right, 1, axis)
        yield f"{{}} of the {word} behind", np.roll(right, -1, axis)
    if rows == right.shape[1]:
        yield "the transposed {}", right.T
    yield "{} read in the order of columns", right.T.reshape(right.shape)
    yield "{} read down its columns", right.ravel("F").reshape(right.shape)


def _by_factors(given: Array, right: Array, name: str) -> str:
    """By what an operand's rows or entries are multiplied, or which are lost."""
    whole = float((given * right).sum() / max(float((right * right).sum()), 1e-300))
    if _near(given, whole * right, _NEAR):
        return f"{whole:.4g} times {name} stands for it"
    for axis, words in ((1, "row of the batch"), (0, "place of a row")):
        share = (given * right).sum(axis, keepdims=True) / np.maximum(
            (right * right).sum(axis, keepdims=True), 1e-300
        )
        if not _near(given, share * right, _NEAR):
            continue
        lost = np.flatnonzero(np.abs(share.ravel()) <= _NEAR)
        if len(lost) and np.allclose(np.delete(share.ravel(), lost), 1.0, atol=_NEAR):
            return (
                f"{name} of {len(lost)} of {share.size} {words.replace(' of', 's of', 1)} alone is left out"
            )
        return f"{name} is multiplied by a number of its own for each {words}"
    return ""


def _near(one: Array, other: Array, limit: float) -> bool:
    size = float(np.linalg.norm(other))
    return size > 0 and bool(np.linalg.norm(one - other) <= limit * size)
