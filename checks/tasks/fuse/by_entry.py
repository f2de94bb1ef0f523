"""What single entries of wrong rows show: from which place on they are wrong, and what they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.asking import LIMIT, Asked
from judge_tui.checks.tasks.fuse.reference import truth
from judge_tui.checks.tasks.fuse.shared_rows import SHARED

__all__ = [
    "from_place",
    "merged_place_by_place",
    "nothing_left",
    "own_maxima",
    "past_the_end",
    "taken_again",
    "values_alone",
]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
#: Parts of a row of which one's maximum may be taken off, and logits that are sorted at a time.
_PARTS, _CHUNKS = (32, 64, 128, 256, 512, 1024), (32, 64, 128, 256, 512, 1024)
#: Rows that are looked at, logits of each, and entries that must show something.
_ROWS, _LONGEST, _LEAST = 12, 9000, 4
#: A probability that is one, and places that may pad a row.
_WEIGHS, _MOST_PADDED = 1e-30, 8192
#: How far a logarithm may be off.
_SAME = 1e-3


def from_place(asked: Asked) -> str:
    """From which place on the first wrong row's entries are wrong, as a clause; empty where they are mixed.

    Args:
        asked: An answer of which some row's indices are wrong.
    """
    known, read = asked.compared, asked.read
    if known is None or read is None or known.chosen.all():
        return ""
    row = int(np.argmin(known.chosen))
    logits, indices, K = asked.question.logits[row], read.indices[row], asked.question.K
    inside = (indices >= 0) & (indices < len(logits)) & ~read.unwritten[row]
    wanted = truth(logits[None], K).values[0]
    right = inside & (logits[np.where(inside, indices, 0)] == wanted)
    right &= np.isin(np.arange(K), np.unique(indices, return_index=True)[1])
    first = int(np.argmin(right))
    rest = indices[first:]
    if K > 2 and inside.all() and (indices == indices[0]).all():
        return f"index {indices[0]} stands at every place"
    if first < 2 or right[first:].any() or first == K - 1:
        return ""
    if read.unwritten[row, first:].all():
        return f"the first {first} are right, nothing is written from place {first} on"
    same = f", where index {rest[0]} stands each time" if (rest == rest[0]).all() else ""
    return f"the first {first} are right, all from place {first} on are not{same}"


def values_alone(wrong: Sequence[Asked]) -> str:
    """Whether rows with other indices have the probabilities of the K largest, as a clause.

    Args:
        wrong: Answers.
    """
    shown = 0
    for each in wrong:
        known, read = each.compared, each.read
        if known is None or read is None or read.unwritten.any():
            return ""
        true = truth(each.question.logits, each.question.K)
        wanted = np.exp(true.values.astype(np.float64) - true.lse[:, None])
        for row in np.flatnonzero(~known.chosen):
            logits, indices = each.question.logits[row], read.indices[row]
            inside = (indices >= 0) & (indices < len(logits))
            other = ~inside | (logits[np.where(inside, indices, 0)] != true.values[row])
            same = np.allclose(read.probabilities[row], wanted[row], rtol=10 * LIMIT, atol=1e-30)
            if not same:
                return ""
            shown += int(bool((wanted[row][other] > _WEIGHS).all()) and len(np.unique(wanted[row])) >= _LEAST)
    told = "the probabilities are those of the K largest, but other indices stand beside them: values are "
    return told + "moved without their indices" if shown else ""


def past_the_end(asked: Asked) -> str:
    """Whether indices that are out of range are of places that pad the row, as a clause.

    Args:
        asked: A wrong answer.
    """
    known, read = asked.compared, asked.read
    if known is None or read is None or read.unwritten.any():
        return ""
    V = asked.question.logits.shape[1]
    past = read.indices >= V
    padded = read.indices.max(initial=0) < V + _MOST_PADDED and (read.indices >= 0).all()
    nothing = truth(asked.question.logits, asked.question.K).values[past] == -np.inf
    if not past.any() or not padded or not nothing.all():
        return ""
    told = "places behind the row's end come before its logits of −inf: what pads it is not left out"
    return f"{told} (it stands for −inf too, or for a finite number above it)"


def nothing_left(asked: Asked) -> str:
    """What probability indices of −1 have where logits of −inf alone are left, as a clause.

    Args:
        asked: A wrong answer.
    """
    known, read = asked.compared, asked.read
    if known is None or read is None or read.unwritten.any() or not known.outside.any():
        return ""
    V, values = asked.question.logits.shape[1], truth(asked.question.logits, asked.question.K).values
    outside = (read.indices < 0) | (read.indices >= V)
    odd = outside & (read.probabilities != 0)
    if not odd.any() or not ((read.indices == -1) | ~outside).all() or not (values[odd] == -np.inf).all():
        return ""
    row = int(np.argmax(odd.any(axis=1)))
    given = read.probabilities[row, int(np.argmax(odd[row]))]
    if np.isnan(given):
        return "where only logits of −inf are left, index −1 comes with a probability of NaN"
    largest = np.isclose(given, read.probabilities[row].max(), rtol=1e-4)
    what = "that of the largest" if largest else f"{given:.3g}"
    return f"where only logits of −inf are left, index −1 comes with a probability that is {what}, not 0"


def taken_again(asked: Asked) -> str:
    """Whether indices stand twice where logits of −inf alone are left, as a clause.

    Args:
        asked: A wrong answer.
    """
    known, read = asked.compared, asked.read
    if known is None or read is None or read.unwritten.any() or known.outside.any():
        return ""
    values = truth(asked.question.logits, asked.question.K).values
    for row in np.flatnonzero(known.doubled > 0):
        indices, empty = read.indices[row], values[row] == -np.inf
        again = np.ones(len(indices), dtype=bool)
        again[np.unique(indices, return_index=True)[1]] = False
        if (again & ~empty).any():
            return ""
    told = (
        "where only logits of −inf are left, entries that were taken come again: they are marked as taken by"
    )
    return f"{told} −inf alone" if known.doubled.any() else ""


def own_maxima(wrong: Sequence[Asked]) -> str:
    """Of which part of a row each entry's maximum is, as a clause; empty where no rule gives all.

    Args:
        wrong: Answers with the right indices and probabilities that have no factor in common.
    """
    rows = [row for each in wrong for row in _apart(each)][:_ROWS]
    if not rows:
        return ""
    if all(np.allclose(logits[indices], taken, atol=_SAME) for logits, indices, taken in rows):
        return "every entry is 1 / sum: its own logit is taken off it, not the row's maximum"
    for how, share in SHARED.items():
        for parts in _PARTS:
            if all(_are(share(logits, parts).max(axis=1), taken) for logits, _, taken in rows):
                return (
                    f"entry k is taken below the maximum of the k-th of {parts} {how} alone, not of the row"
                )
    return ""


def _are(tops: Floats, taken: Floats) -> bool:
    """Whether the k-th part's maximum is what was taken off the k-th entry."""
    return len(taken) <= len(tops) and bool((np.abs(tops[: len(taken)] - taken) <= _SAME).all())


def _apart(asked: Asked) -> Iterator[tuple[Floats, Indices, Floats]]:
    """Wrong rows, with their indices and what was taken off each entry."""
    known, read, logits = asked.compared, asked.read, asked.question.logits.astype(np.float64)
    if known is None or read is None or logits.shape[1] > _LONGEST:
        return
    for row in np.flatnonzero(known.chosen & (known.error > LIMIT)):
        given, indices = read.probabilities[row].astype(np.float64), read.indices[row]
        if not (np.isfinite(given) & (given > 0)).all() or (indices < 0).any() or len(given) < _LEAST:
            continue
        total = np.exp(logits[row] - logits[row].max()).sum()
        yield logits[row], indices, logits[row][indices] - np.log(given * total)


def merged_place_by_place(logits: npt.NDArray[np.float32], indices: Indices) -> set[int] | None:
    """Sizes of sorted chunks that give an answer where of each place of two lists only the larger is kept.

    A row no longer than a chunk is sorted.

    Args:
        logits: The row (V,).
        indices: That came (K,).

    Returns:
        ``None`` of a long row, of which that is not looked for.
    """
    if len(logits) > _LONGEST:
        return None
    found, V, K = set(), len(logits), len(indices)
    wide = logits.astype(np.float64)
    for size in _CHUNKS:
        if size < K:
            continue
        best = np.full(size, -np.inf)
        for start in range(0, V, size):
            chunk = np.full(size, -np.inf)
            chunk[: min(size, V - start)] = np.sort(wide[start : start + size])[::-1]
            best = np.sort(np.maximum(best, chunk))[::-1]
        if (wide[indices] == best[:K]).all():
            found.add(size)
    return found
