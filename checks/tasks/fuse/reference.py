"""The truth about a softmax and its top-k, in float64, and how an answer is held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Compared", "Truth", "compared", "truth"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Truth:
    """What rows of logits (rows, V) give.

    Attributes:
        values: The K largest logits of each row, largest first, float32 (rows, K).
        lse: log Σ exp of each row, float64 (rows,).
    """

    values: npt.NDArray[np.float32]
    lse: Floats


@dataclass(frozen=True, slots=True)
class Compared:
    """An answer beside the truth, per row.

    Attributes:
        unwritten: Entries that still hold what the output was filled with.
        outside: Indices out of range.
        blank: Indices of −1 for entries of probability 0.
        doubled: Indices that stand twice.
        misplaced: Places whose logit is not the sorted top-k's, −0 and +0 being equal.
        error: Largest relative error of p = exp(x − lse) over the K entries; NaN and infinities are infinite.
        because: What the probabilities of the worst row are instead, as a clause; empty when unknown.
        stray: The first index of each row that is out of range.
    """

    unwritten: npt.NDArray[np.int64]
    outside: npt.NDArray[np.int64]
    doubled: npt.NDArray[np.int64]
    misplaced: npt.NDArray[np.int64]
    error: Floats
    blank: npt.NDArray[np.int64]
    because: str = ""
    stray: npt.NDArray[np.int64] | None = None

    @property
    def chosen(self) -> npt.NDArray[np.bool_]:
        """Rows whose indices are right."""
        return np.asarray((self.unwritten + self.outside + self.doubled + self.misplaced) == 0)

    def right(self, limit: float) -> npt.NDArray[np.bool_]:
        """Rows whose indices and probabilities are right."""
        return np.asarray(self.chosen & (self.error <= limit))

    def told(self, row: int) -> str:
        """What is wrong with the indices of a row, as a clause; empty when nothing is."""
        stray = "" if self.stray is None else f" ({self.stray[row]})"
        for count, one, several in (
            (self.unwritten[row], "entry is not written", "entries are not written"),
            (self.outside[row], f"index is out of range{stray}", f"indices are out of range{stray}"),
            (self.doubled[row], "index stands twice", "indices stand twice"),
            (
                self.misplaced[row],
                "place holds another logit than the sorted top-k",
                "places hold another logit than the sorted top-k",
            ),
        ):
            if count:
                return f"{count} {one if count == 1 else several}"
        return ""


def truth(logits: npt.NDArray[np.float32], K: int) -> Truth:
    """The K largest logits of each row and its log-sum-exp.

    Args:
        logits: (rows, V) float32, K <= V; −inf is allowed, a row must have a finite entry.
        K: Number of entries.
    """
    V = logits.shape[1]
    part = np.partition(logits, V - K, axis=1)[:, V - K :]
    values = -np.sort(-part, axis=1)
    wide = logits.astype(np.float64)
    top = wide.max(axis=1, keepdims=True)
    lse = top[:, 0] + np.log(np.exp(wide - top).sum(axis=1))
    return Truth(values, lse)


def compared(
    logits: npt.NDArray[np.float32],
    K: int,
    indices: npt.NDArray[np.int64],
    probabilities: npt.NDArray[np.float32],
    unwritten: npt.NDArray[np.bool_],
) -> Compared:
    """Hold an answer against the truth.

    Indices are never compared with each other: with ties several answers are right.

    Args:
        logits: (rows, V) float32.
        K: Number of entries.
        indices: (rows, K).
        probabilities: (rows, K) float32.
        unwritten: (rows, K): entries of either output that were not written.
    """
    V = logits.shape[1]
    known = truth(logits, K)
    blank = (indices == -1) & (known.values == -np.inf) & (probabilities == 0)
    outside = ((indices < 0) | (indices >= V)) & ~blank
    inside = np.where(outside | blank, 0, indices)
    picked = np.where(blank, np.float32(-np.inf), np.take_along_axis(logits, inside, axis=1))
    ordered = np.sort(np.where(outside | blank, -1 - np.arange(K), indices), axis=1)
    doubled = (ordered[:, 1:] == ordered[:, :-1]).sum(axis=1) if K > 1 else np.zeros(len(logits), np.int64)
    misplaced = ((picked != known.values) & ~outside).sum(axis=1)
    # probabilities of what was chosen: a wrong choice is told by itself
    wanted = np.exp(picked.astype(np.float64) - known.lse[:, None])
    given = probabilities.astype(np.float64)
    error = _error(given, wanted)
    worst = int(np.argmax(error))
    because = _instead(given[worst], wanted[worst], picked[worst].astype(np.float64))
    stray = np.where(outside.any(axis=1), indices[np.arange(len(indices)), outside.argmax(axis=1)], -1)
    return Compared(
        unwritten.sum(axis=1), outside.sum(axis=1), doubled, misplaced, error, blank.sum(axis=1), because,
        stray,
    )  # fmt: skip


def _error(given: Floats, wanted: Floats) -> Floats:
    """Relative error per row; below float32's normal range zero is as good as any."""
    tiny = float(np.finfo(np.float32).tiny)
    error = np.abs(given - wanted) / np.maximum(wanted, tiny)
    error[(wanted < tiny) & (np.abs(given) <= 2 * tiny)] = 0.0
    error[~np.isfinite(given)] = np.inf
    return np.asarray(error.max(axis=1))


def _instead(given: Floats, wanted: Floats, picked: Floats) -> str:
    """What the probabilities of one row are, where they are another thing that has a name.

    Args:
        given: (K,).
        wanted: (K,).
        picked: (K,) the logits that were chosen.
    """
    if not np.isfinite(given).all():
        nan = int(np.isnan(given).sum())
        return f"{nan} of {len(given)} are NaN" if nan else "infinities are among them"
    if rounded := _rounded(given, wanted):
        return rounded
    if len(given) == 1:
        return "the one entry has 1" if abs(given[0] - 1) < 1e-6 else ""
    others = {
        "they are normalised over the K entries alone": wanted / wanted.sum(),
        "they are exp(x − max), divided by 1 in place of its sum": wanted / wanted.max(),
        "they are logarithms": np.log(np.maximum(wanted, np.finfo(np.float64).tiny)),
        "they are the logits themselves": picked,
        "they are all zero": np.zeros_like(wanted),
    }
    with np.errstate(invalid="ignore", divide="ignore"):
        told = next((what for what, each in others.items() if _near(given, each, wanted)), "")
        return told or _apart(given, wanted, others)


def _rounded(given: Floats, wanted: Floats) -> str:
    """The format of less precision that they are right in."""
    single = given.astype(np.float32)
    if not np.allclose(given, wanted, rtol=2.0**-7, atol=0) or np.allclose(given, wanted, rtol=1e-5, atol=0):
        return ""
    if not (single.view(np.uint32) & 0xFFFF).any():
        return "they are rounded to bfloat16"
    return "they are rounded to float16" if (single.astype(np.float16) == single).all() else ""


def _apart(given: Floats, wanted: Floats, others: Mapping[str, Floats]) -> str:
    """What is wrong where some of them are right, or are one of other things from a place on."""
    right = np.isclose(given, wanted, rtol=1e-5, atol=0)
    first = int(np.argmin(right))
    cut = (given[first:] == 0) & (wanted[first:] > 1e-30)
    if right[:first].any() and cut.all():
        return f"from place {first} on they are 0"
    if right[:first].any() and not right[first:].any():
        rest = slice(first, None)
        for what, each in others.items():
            if _near(given[rest], each[rest], wanted[rest]):
                return f"the first {first} are right, from place {first} on {what}"
    for what, each in others.items() if right.any() else ():
        if _near(given[~right], each[~right], wanted[~right]):
            return f"{right.sum()} of {len(right)} are right, of the others {what}"
    apart = not np.allclose(given, wanted, rtol=1e-3, atol=0)
    if apart and np.allclose(np.sort(given), np.sort(wanted), rtol=1e-5, atol=0):
        return "the right ones stand beside other indices"
    return ""


def _near(given: Floats, other: Floats, wanted: Floats) -> bool:
    """Whether an answer is this other thing, and this is not what was asked for."""
    apart = not np.allclose(other, wanted, rtol=1e-3, atol=0)
    return apart and bool(np.allclose(given, other, rtol=1e-4, atol=1e-30))
