"""Sequences of a cache that share a past, are put in another order, or take tokens back."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.faces.store import given_number
from judge_tui.checks.tasks.kv.words.sharing_roles import FORK, REORDER, ROLL_BACK

__all__ = ["ADDED", "clone", "cut", "fork", "fork_row", "reorder", "roll_back", "roll_back_sequence"]

Array = npt.NDArray[Any]
#: Handed over for a child that the cache has been told of before.
ADDED = "added_child"


def fork(pool: Pool, parent: int, child: int) -> None:
    """Let a sequence of a paged cache come that has the past of another.

    Raises:
        Fault: What the submission did, or that it gives no number of the new sequence.
    """
    binding, before = pool.bound["fork"], pool.state()
    length = pool.fed[parent][0].shape[1]
    if binding.takes(ADDED):
        pool.add(child, length)
    told = {"child": child, ADDED: pool.names.get(child, child), "one": 1, "length": length}
    returned = pool.told(binding, FORK, told, parent)
    if not (binding.takes("child") or binding.takes(ADDED)) and pool.state() is before:
        pool.names[child] = given_number(returned)
    pool.fed[child] = pool.fed[parent]


def roll_back_sequence(pool: Pool, sequence: int, count: int) -> None:
    """Take the newest tokens of a sequence of a paged cache back."""
    k, v = pool.fed[sequence]
    kept = k.shape[1] - count
    pool.told(pool.bound["roll_back"], ROLL_BACK, {"length": kept, "count": count}, sequence)
    pool.fed[sequence] = k[:, :kept], v[:, :kept]


def reorder(cached: Cached, order: Array) -> None:
    """Put rows of a batch in another order, or fewer; ``order`` names the old row of each new one."""
    cached.told(cached.bound["reorder"], REORDER, {"order": order})
    cached.changed()
    cached.counts, cached.sizes = cached.counts[order], replace(cached.sizes, batch=len(order))


def fork_row(cached: Cached, parent: int, child: int) -> None:
    """Give one row of a batch the past of another."""
    cached.told(cached.bound["fork"], FORK, {"child": child, "one": 1}, parent)
    cached.changed()
    cached.counts[child] = cached.counts[parent]


def clone(cached: Cached) -> Cached:
    """A second cache with the same past.

    Raises:
        BadResult: The call gives no cache, or the same one.
    """
    binding, before = cached.bound["fork"], cached.states[0]
    other = copy.copy(cached)
    other.counts, other.states = cached.counts.copy(), [before]
    other.told(binding, FORK, {"one": 1})
    other.changed()
    if other.states[0] is before:
        raise BadResult(f"{binding.target} gives no cache")
    return other


def roll_back(cached: Cached, counts: Array) -> None:
    """Take so many of the newest tokens of each sequence, (B,), back.

    Raises:
        Skipped: The call is told one number for all sequences, and that is not the same for each.
    """
    binding, left = cached.bound["roll_back"], cached.counts - counts
    told = counts if binding.takes("count") else left if binding.takes("length") else counts[:0]
    apart = binding.takes("sequence")
    if not apart and len(set(told.tolist())) > 1:
        raise Skipped(f"{binding.target} takes one number for all sequences")
    cached.counts = left
    for row in np.flatnonzero(counts).tolist() if apart else [None]:
        count = int(counts.max() if row is None else counts[row])
        cached.told(binding, ROLL_BACK, {"count": count, "counts": counts}, row)
    cached.changed()


def cut(cached: Cached, length: int) -> None:
    """Leave so many tokens of each sequence, the oldest, or all where it has fewer."""
    binding, each = cached.bound["roll_back"], np.full_like(cached.counts, length)
    apart = binding.takes("sequence")
    for row in range(len(each)) if apart else [None]:
        cached.told(binding, ROLL_BACK, {"length": length, "totals": each if row is None else each[:1]}, row)
    cached.counts = np.minimum(cached.counts, each)
    cached.changed()
