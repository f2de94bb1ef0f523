"""Which wrong merge of partial softmax statistics gives a row's sum of exponentials.

Threads share a row: each has a maximum m and a sum l = Σ exp(x − m) of its part. Two of them are merged
by M = max(m, m'), l·exp(m − M) + l'·exp(m' − M). Where an answer's probabilities are off by a factor that its
entries have in common, the sum that they were divided by is known, and is held against what each known
mistake would give, for the usual ways of sharing a row out.

Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018), section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.merges import (
    ORDERS,
    WRONG,
    Merge,
    Order,
    Parts,
    difference,
    down,
    one_by_one,
    orders,
    right,
)
from judge_tui.checks.tasks.fuse.terms import mistakes

__all__ = ["SHARED", "Hypothesis", "Sum", "by_chunks", "common", "hypotheses", "sum_of"]

Floats = npt.NDArray[np.float64]
#: Numbers of threads that share a row.
_THREADS = (32, 8, 16, 64, 128, 256, 512, 1024)
_WARP = 32
#: Lanes that a butterfly reaches which begins too late, or ends too soon.
_GROUPS = (16, 8, 4, 2)
#: Parts of one size, as many as there are.
_CHUNKS = "chunks"
#: How far the logarithm of a sum in float32 may be from what a mistake gives, and how far it is off at least.
_SAME, _OFF = 5e-5, 1e-3
#: Probabilities from which on an entry says something of the sum.
_TOLD = 1e-30


class _Row:
    """Logits as threads share them.

    Args:
        logits: (V,) float32.

    Attributes:
        logits: The same in float64.
        top: The largest.
        log: The logarithm of their sum of exponentials.
    """

    def __init__(self, logits: npt.NDArray[np.float32]) -> None:
        self.logits = logits.astype(np.float64)
        self.top = float(self.logits.max())
        self.log = self.top + float(np.log(np.exp(self.logits - self.top).sum()))
        self._known: dict[tuple[str, int], Parts] = {}

    def shared(self, how: str, threads: int) -> Floats:
        """The part of each thread, one in each line."""
        return _side(self.logits, threads) if how == _CHUNKS else SHARED[how](self.logits, threads)

    def statistics(self, how: str, threads: int) -> Parts:
        """The maximum and the sum of each thread's part."""
        key = how, threads
        if key not in self._known:
            parts = self.shared(how, threads)
            top = parts.max(axis=1)
            finite = np.where(np.isfinite(top), top, 0.0)
            self._known[key] = top, np.exp(parts - finite[:, None]).sum(axis=1)
        return self._known[key]


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum that a row's probabilities were divided by.

    Attributes:
        row: Its logits.
        log: Its logarithm, the maximum that was taken off added back.
    """

    row: _Row
    log: float

    @property
    def count(self) -> int:
        """How many logits its row has, V."""
        return len(self.row.logits)

    @property
    def off(self) -> bool:
        """Whether it is wrong by so much that mistakes can be told apart."""
        return abs(self.log - self.row.log) > _OFF


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A mistake.

    Attributes:
        words: For people, as a clause.
        made: What logarithm of the sum it gives.
    """

    words: str
    made: Callable[[_Row], float]

    def gives(self, seen: Sum) -> bool:
        """Whether it gives this sum."""
        with np.errstate(all="ignore"):
            log = self.made(seen.row)
        return bool(abs(log - seen.log) <= _SAME * max(1.0, abs(seen.log) / 16))


def sum_of(
    row: npt.NDArray[np.float32], picked: npt.NDArray[np.float32], probabilities: npt.NDArray[np.float32]
) -> Sum | None:
    """The sum behind the probabilities of one row.

    Args:
        row: Its logits (V,).
        picked: Those that were chosen (K,).
        probabilities: What came with them (K,).

    Returns:
        ``None`` where the entries have no factor in common, so that a sum is not what is wrong.
    """
    told = np.isfinite(probabilities) & (probabilities > _TOLD) & np.isfinite(picked)
    if not told.any():
        return None
    logs = picked[told].astype(np.float64) - np.log(probabilities[told].astype(np.float64))
    if np.ptp(logs) > _OFF:
        return None
    return Sum(_Row(row), float(np.median(logs)))


def common(sums: Sequence[Sum], known: Iterable[Hypothesis] = ()) -> Hypothesis | None:
    """The mistake that gives every one of the sums; at least two of them must be off.

    Args:
        sums: Of rows that are not alike.
        known: Mistakes that are looked for; all that do not hang on a size where none are given.
    """
    sums = sorted(sums, key=lambda seen: (not seen.off, len(seen.row.logits)))
    if sum(seen.off for seen in sums) < 2:
        return None
    return next((each for each in known or hypotheses() if all(map(each.gives, sums))), None)


@lru_cache(maxsize=1)
def hypotheses() -> tuple[Hypothesis, ...]:
    """All known mistakes, the likelier first."""
    return (*_by_merge(), *_by_reach(), *_by_group(), *_by_rise(), *_by_rest(), *_by_terms())


def _by_merge() -> Iterator[Hypothesis]:
    for words, merge in WRONG.items():
        for how in SHARED:
            for threads in _THREADS:
                for order in orders(merge):
                    made = partial(_merged, how, threads, (merge,), (order,))
                    yield Hypothesis(f"the sums of {threads} {how} are {words}", made)
                if threads > _WARP:
                    yield from _in_two(words, merge, how, threads)


def _in_two(words: str, merge: Merge, how: str, threads: int) -> Iterator[Hypothesis]:
    """Lanes within each warp first, then the warps: wrong within, between, or in both."""
    warps = f"{threads // _WARP} warps ({how})"
    for first in orders(merge):
        made = partial(_merged, how, threads, (merge, right), (first, down))
        yield Hypothesis(f"the sums of each warp's lanes ({threads} {how}) are {words}", made)
    for second in (*orders(merge), *(() if len(orders(merge)) == 1 else (one_by_one,))):
        made = partial(_merged, how, threads, (right, merge), (down, second))
        yield Hypothesis(f"the sums of {warps} are {words}", made)
        for first in () if len(orders(merge)) == 1 else ORDERS:
            made = partial(_merged, how, threads, (merge, merge), (first, second))
            yield Hypothesis(f"the sums of each warp's lanes, and of {warps}, are {words}", made)


def _by_reach() -> Iterator[Hypothesis]:
    """A reduction that does not reach every part."""
    for how in SHARED:
        for threads in _THREADS:
            first = partial(_by_the_first, how, threads)
            yield Hypothesis(f"the maximum of the first of {threads} {how} is taken for the row's", first)
            for unit in (1, _WARP) if threads > _WARP else (1,):
                count = threads // unit
                name = f"{count} {how}" if unit == 1 else f"{count} warps ({how})"
                for told, kept in _reached(count):
                    whole = np.repeat(kept, unit)
                    yield Hypothesis(f"of {name} {told}", partial(_some, how, whole))


def _reached(count: int) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    places = np.arange(count)
    yield "the sum of the first alone is left, the others' are dropped", places < 1
    for bit in range(count.bit_length() - 1):
        stride = 1 << bit
        told = f"those without bit {stride} in their number alone are merged: no step has stride {stride}"
        yield told, (places & stride) == 0
    for size in (1 << bit for bit in range(1, count.bit_length() - 2)):
        yield f"the sums of the first {size} alone are merged", places < size
    yield "the last one's sum is left out", places < count - 1
    yield "the last one's sum alone is left", places == count - 1


def _by_group() -> Iterator[Hypothesis]:
    """Maxima that reach a few neighbours alone, while sums are added up over all lanes of a warp."""
    for how in SHARED:
        for threads in _THREADS:
            for size in _GROUPS if threads >= _WARP else ():
                words = f"a maximum is found among {size} of a warp's lanes alone, while sums are added up"
                yield Hypothesis(f"{words} over all ({threads} {how})", partial(_grouped, how, threads, size))


def _by_rise() -> Iterator[Hypothesis]:
    """A thread's own running sum, when its maximum rises."""
    for factor, words in (
        (0.0, "is not rescaled when its maximum rises"),
        (1.0, "is rescaled by exp(m_new − m_old), the wrong way, when its maximum rises"),
    ):
        for how in SHARED:
            for threads in (*_THREADS, 1):
                each = f"each of {threads} {how}" if threads > 1 else "the one thread"
                made = partial(_risen, how, threads, factor)
                yield Hypothesis(f"the running sum of {each} {words}", made)
    for how in SHARED:
        for threads in (*_THREADS, 1):
            each = f"each of {threads} {how}" if threads > 1 else "the one thread"
            words = f"the running sum of {each} lacks the logits at which its maximum rose"
            yield Hypothesis(words, partial(_without_rises, how, threads))


def _by_rest() -> Iterator[Hypothesis]:
    """Logits behind the last whole round of all threads."""
    for unit in (_WARP, *(threads for threads in _THREADS if threads > _WARP), 4, 8, 16):
        words = f"the logits behind the last multiple of {unit} are left out of the sum"
        yield Hypothesis(words, partial(_of_whole_rounds, unit))


def by_chunks(size: int) -> Iterator[Hypothesis]:
    """The mistakes of rows that are cut into chunks of one size, their sums being merged in order.

    Args:
        size: Logits of a chunk.
    """
    chunks = f"chunks of {size} logits"
    for words, merge in WRONG.items():
        made = partial(_merged, _CHUNKS, size, (merge,), (one_by_one,))
        yield Hypothesis(f"the sums of {chunks} are {words}", made)
    first = partial(_by_the_first, _CHUNKS, size)
    yield Hypothesis(f"the maximum of the first of the {chunks} is taken for the row's", first)
    for words, kept in (("first", slice(1)), ("last", slice(-1, None))):
        made = partial(_chosen, size, kept)
        yield Hypothesis(f"of {chunks} the sum of the {words} alone is left", made)
    for words, kept in (("first", slice(1, None)), ("last", slice(-1))):
        made = partial(_chosen, size, kept)
        yield Hypothesis(f"of {chunks} the sum of the {words} is left out", made)
    words = f"the logits behind the last whole chunk of {size} are left out of the sum"
    yield Hypothesis(words, partial(_of_whole_rounds, size))


def _chosen(size: int, kept: slice, row: _Row) -> float:
    top, total = row.statistics(_CHUNKS, size)
    return row.top + float(np.log((total * np.exp(top - row.top))[kept].sum()))


def _by_terms() -> Iterator[Hypothesis]:
    """Terms that are missing or too many, whoever adds them up."""
    for words, log in mistakes():
        yield Hypothesis(words, partial(_of_logits, log))


def _of_logits(log: Callable[[Floats], float], row: _Row) -> float:
    return log(row.logits)


def _merged(how: str, threads: int, merges: Sequence[Merge], orders: Sequence[Order], row: _Row) -> float:
    top, total = row.statistics(how, threads)
    if len(merges) == 2:
        top, total = orders[0](merges[0], (top.reshape(-1, _WARP), total.reshape(-1, _WARP)))
    _top, found = orders[-1](merges[-1], (top, total))
    return row.top + float(np.log(found))


def _some(how: str, kept: npt.NDArray[np.bool_], row: _Row) -> float:
    top, total = row.statistics(how, len(kept))
    return row.top + float(np.log((total[kept] * np.exp(top[kept] - row.top)).sum()))


def _grouped(how: str, threads: int, size: int, row: _Row) -> float:
    top, total = (each.reshape(-1, _WARP // size, size) for each in row.statistics(how, threads))
    highest = top.max(axis=2)
    sums = (total * np.exp(difference(top, highest[..., None]))).sum(axis=2)
    return float(np.log((np.exp(highest[:, 0] - row.top) * sums.sum(axis=1)).sum())) + row.top


def _of_whole_rounds(unit: int, row: _Row) -> float:
    kept = row.logits[: len(row.logits) // unit * unit]
    return row.top + float(np.log(np.exp(kept - row.top).sum()))


def _by_the_first(how: str, threads: int, row: _Row) -> float:
    return row.log - row.top + float(row.statistics(how, threads)[0][0])


def _risen(how: str, threads: int, factor: float, row: _Row) -> float:
    parts = row.shared(how, threads)
    running = np.maximum.accumulate(parts, axis=1)
    top = running[:, -1:]
    terms = np.exp(difference(parts, running) + factor * difference(top, running))
    total = np.where(np.isfinite(parts), terms, 0.0).sum(axis=1) * np.exp(top[:, 0] - row.top)
    return row.top + float(np.log(total.sum()))


def _without_rises(how: str, threads: int, row: _Row) -> float:
    parts = row.shared(how, threads)
    before = np.maximum.accumulate(parts, axis=1)[:, :-1]
    rose = np.concatenate([np.ones((len(parts), 1), dtype=bool), parts[:, 1:] > before], axis=1)
    return row.top + float(np.log(np.exp(parts[~rose] - row.top).sum()))


def _padded(row: Floats, unit: int) -> Floats:
    return np.pad(row, (0, -len(row) % unit), constant_values=-np.inf)


def _strided(row: Floats, count: int) -> Floats:
    return np.ascontiguousarray(_padded(row, count).reshape(-1, count).T)


def _by_fours(row: Floats, count: int) -> Floats:
    fours = _padded(row, 4 * count).reshape(-1, count, 4)
    return np.ascontiguousarray(fours.transpose(1, 0, 2).reshape(count, -1))


def _by_fours_and_rest(row: Floats, count: int) -> Floats:
    """Those behind the last four go to one lane each, from the first on."""
    whole = len(row) // 4 * 4
    return np.concatenate([_by_fours(row[:whole], count), _strided(row[whole:], count)], axis=1)


def _side(row: Floats, size: int) -> Floats:
    return _padded(row, size).reshape(-1, size)


def _side_by_side(row: Floats, count: int) -> Floats:
    return _padded(row, count * -(-len(row) // count)).reshape(count, -1)


#: How a row is shared out → its parts, one in each line.
SHARED: dict[str, Callable[[Floats, int], Floats]] = {
    "lanes": _strided,
    "lanes of four logits": _by_fours,
    "lanes of four logits (the rest one by one)": _by_fours_and_rest,
    "lanes with a stretch each": _side_by_side,
}
