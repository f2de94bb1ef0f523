"""Which logarithm of a row's sum of exponentials each mistake gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.merges import Merge, Order, difference
from judge_tui.checks.tasks.fuse.shared_rows import CHUNKS, WARP, Floats, SharedRow

__all__ = [
    "by_the_first",
    "chosen",
    "grouped",
    "merged",
    "of_logits",
    "of_whole_rounds",
    "risen",
    "some",
    "without_rises",
]


def chosen(size: int, kept: slice, row: SharedRow) -> float:
    """The sum of some chunks of a size alone."""
    top, total = row.statistics(CHUNKS, size)
    return row.top + float(np.log((total * np.exp(top - row.top))[kept].sum()))


def of_logits(log: Callable[[Floats], float], row: SharedRow) -> float:
    """What a function of the logits gives, whoever adds them up."""
    return log(row.logits)


def merged(how: str, threads: int, merges: Sequence[Merge], orders: Sequence[Order], row: SharedRow) -> float:
    """Threads' sums are merged wrongly in an order; of two merges the first is that within warps."""
    top, total = row.statistics(how, threads)
    if len(merges) == 2:
        top, total = orders[0](merges[0], (top.reshape(-1, WARP), total.reshape(-1, WARP)))
    _top, found = orders[-1](merges[-1], (top, total))
    return row.top + float(np.log(found))


def some(how: str, kept: npt.NDArray[np.bool_], row: SharedRow) -> float:
    """The sums of those threads alone that ``kept`` (threads,) names."""
    top, total = row.statistics(how, len(kept))
    return row.top + float(np.log((total[kept] * np.exp(top[kept] - row.top)).sum()))


def grouped(how: str, threads: int, size: int, row: SharedRow) -> float:
    """Maxima of groups of ``size`` lanes, while sums are added up over all lanes of a warp."""
    top, total = (each.reshape(-1, WARP // size, size) for each in row.statistics(how, threads))
    highest = top.max(axis=2)
    sums = (total * np.exp(difference(top, highest[..., None]))).sum(axis=2)
    return float(np.log((np.exp(highest[:, 0] - row.top) * sums.sum(axis=1)).sum())) + row.top


def of_whole_rounds(unit: int, row: SharedRow) -> float:
    """The logits behind the last multiple of a unit are left out."""
    kept = row.logits[: len(row.logits) // unit * unit]
    return row.top + float(np.log(np.exp(kept - row.top).sum()))


def by_the_first(how: str, threads: int, row: SharedRow) -> float:
    """The maximum of the first thread is taken for the row's."""
    return row.log - row.top + float(row.statistics(how, threads)[0][0])


def risen(how: str, threads: int, factor: float, row: SharedRow) -> float:
    """Terms are off by ``factor`` times what their maximum rose by since: 0 where none is rescaled."""
    parts = row.shared(how, threads)
    running = np.maximum.accumulate(parts, axis=1)
    top = running[:, -1:]
    terms = np.exp(difference(parts, running) + factor * difference(top, running))
    total = np.where(np.isfinite(parts), terms, 0.0).sum(axis=1) * np.exp(top[:, 0] - row.top)
    return row.top + float(np.log(total.sum()))


def without_rises(how: str, threads: int, row: SharedRow) -> float:
    """Running sums lack the logits at which their maximum rose."""
    parts = row.shared(how, threads)
    before = np.maximum.accumulate(parts, axis=1)[:, :-1]
    rose = np.concatenate([np.ones((len(parts), 1), dtype=bool), parts[:, 1:] > before], axis=1)
    return row.top + float(np.log(np.exp(parts[~rose] - row.top).sum()))
