"""The known mistakes in a sum of exponentials that threads share: in merging it, in what it reaches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse import mistaken_sums
from judge_tui.checks.tasks.fuse.merges import ORDERS, WRONG, Merge, down, one_by_one, orders, right
from judge_tui.checks.tasks.fuse.seen_sums import Hypothesis
from judge_tui.checks.tasks.fuse.shared_rows import CHUNKS, SHARED, WARP
from judge_tui.checks.tasks.fuse.terms import mistakes

__all__ = ["by_chunks", "hypotheses"]

#: Numbers of threads that share a row.
_THREADS = (32, 8, 16, 64, 128, 256, 512, 1024)
#: Lanes that a butterfly reaches which begins too late, or ends too soon.
_GROUPS = (16, 8, 4, 2)


@lru_cache(maxsize=1)
def hypotheses() -> tuple[Hypothesis, ...]:
    """All known mistakes, the likelier first."""
    return (*_by_merge(), *_by_reach(), *_by_group(), *_by_rise(), *_by_rest(), *_by_terms())


def _by_merge() -> Iterator[Hypothesis]:
    for words, merge in WRONG.items():
        for how in SHARED:
            for threads in _THREADS:
                for order in orders(merge):
                    made = partial(mistaken_sums.merged, how, threads, (merge,), (order,))
                    yield Hypothesis(f"the sums of {threads} {how} are {words}", made)
                if threads > WARP:
                    yield from _in_two(words, merge, how, threads)


def _in_two(words: str, merge: Merge, how: str, threads: int) -> Iterator[Hypothesis]:
    """Lanes within each warp first, then the warps: wrong within, between, or in both."""
    warps = f"{threads // WARP} warps ({how})"
    for first in orders(merge):
        made = partial(mistaken_sums.merged, how, threads, (merge, right), (first, down))
        yield Hypothesis(f"the sums of each warp's lanes ({threads} {how}) are {words}", made)
    for second in (*orders(merge), *(() if len(orders(merge)) == 1 else (one_by_one,))):
        made = partial(mistaken_sums.merged, how, threads, (right, merge), (down, second))
        yield Hypothesis(f"the sums of {warps} are {words}", made)
        for first in () if len(orders(merge)) == 1 else ORDERS:
            made = partial(mistaken_sums.merged, how, threads, (merge, merge), (first, second))
            yield Hypothesis(f"the sums of each warp's lanes, and of {warps}, are {words}", made)


def _by_reach() -> Iterator[Hypothesis]:
    """A reduction that does not reach every part."""
    for how in SHARED:
        for threads in _THREADS:
            first = partial(mistaken_sums.by_the_first, how, threads)
            yield Hypothesis(f"the maximum of the first of {threads} {how} is taken for the row's", first)
            for unit in (1, WARP) if threads > WARP else (1,):
                count = threads // unit
                name = f"{count} {how}" if unit == 1 else f"{count} warps ({how})"
                for told, kept in _reached(count):
                    whole = np.repeat(kept, unit)
                    yield Hypothesis(f"of {name} {told}", partial(mistaken_sums.some, how, whole))


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
            for size in _GROUPS if threads >= WARP else ():
                words = f"a maximum is found among {size} of a warp's lanes alone, while sums are added up"
                yield Hypothesis(
                    f"{words} over all ({threads} {how})", partial(mistaken_sums.grouped, how, threads, size)
                )


def _by_rise() -> Iterator[Hypothesis]:
    """A thread's own running sum, when its maximum rises."""
    for factor, words in (
        (0.0, "is not rescaled when its maximum rises"),
        (1.0, "is rescaled by exp(m_new − m_old), the wrong way, when its maximum rises"),
    ):
        for how in SHARED:
            for threads in (*_THREADS, 1):
                each = f"each of {threads} {how}" if threads > 1 else "the one thread"
                made = partial(mistaken_sums.risen, how, threads, factor)
                yield Hypothesis(f"the running sum of {each} {words}", made)
    for how in SHARED:
        for threads in (*_THREADS, 1):
            each = f"each of {threads} {how}" if threads > 1 else "the one thread"
            words = f"the running sum of {each} lacks the logits at which its maximum rose"
            yield Hypothesis(words, partial(mistaken_sums.without_rises, how, threads))


def _by_rest() -> Iterator[Hypothesis]:
    """Logits behind the last whole round of all threads."""
    for unit in (WARP, *(threads for threads in _THREADS if threads > WARP), 4, 8, 16):
        words = f"the logits behind the last multiple of {unit} are left out of the sum"
        yield Hypothesis(words, partial(mistaken_sums.of_whole_rounds, unit))


def by_chunks(size: int) -> Iterator[Hypothesis]:
    """The mistakes of rows that are cut into chunks of one size, their sums being merged in order.

    Args:
        size: Logits of a chunk.
    """
    chunks = f"chunks of {size} logits"
    for words, merge in WRONG.items():
        made = partial(mistaken_sums.merged, CHUNKS, size, (merge,), (one_by_one,))
        yield Hypothesis(f"the sums of {chunks} are {words}", made)
    first = partial(mistaken_sums.by_the_first, CHUNKS, size)
    yield Hypothesis(f"the maximum of the first of the {chunks} is taken for the row's", first)
    for words, kept in (("first", slice(1)), ("last", slice(-1, None))):
        made = partial(mistaken_sums.chosen, size, kept)
        yield Hypothesis(f"of {chunks} the sum of the {words} alone is left", made)
    for words, kept in (("first", slice(1, None)), ("last", slice(-1))):
        made = partial(mistaken_sums.chosen, size, kept)
        yield Hypothesis(f"of {chunks} the sum of the {words} is left out", made)
    words = f"the logits behind the last whole chunk of {size} are left out of the sum"
    yield Hypothesis(words, partial(mistaken_sums.of_whole_rounds, size))


def _by_terms() -> Iterator[Hypothesis]:
    """Terms that are missing or too many, whoever adds them up."""
    for words, log in mistakes():
        yield Hypothesis(words, partial(mistaken_sums.of_logits, log))
