"""Pools of more blocks and slots than a number of few bits tells apart."""

from __future__ import annotations

import time

from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.chosen_pool import pool_of
from judge_tui.checks.tasks.kv.faces.pool import PoolSizes
from judge_tui.checks.tasks.kv.paged.filling import tokens_off
from judge_tui.checks.tasks.kv.paged.job import Job

__all__ = ["judge_large"]

_BLOCK = 16
#: Blocks of pools, and what a pool has more of than the one before it.
_POOLS = (
    (120, ""),
    (250, "past 127 blocks, as where a block's number has 8 bits with a sign"),
    (270, "past 255 blocks, as where a block's number has 8 bits"),
    (2040, ""),
    (4090, "past 32767 slots, as where a slot's number has 16 bits with a sign"),
    (4200, "past 65535 slots, as where a slot's number has 16 bits"),
)
#: Seconds that one pool may take for a larger one to be tried, and the share of the budget that must be left.
_SECONDS, _LEFT = 0.5, 0.4


def judge_large(job: Job) -> None:
    """One sequence that fills a pool but for a block, in ever larger pools, until one is wrong or slow.

    Args:
        job: A paged cache that small pools show nothing wrong of.
    """
    create, bench = job.parts.get("create"), job.bench
    told = create is not None and create.takes("blocks") and "read" in job.parts
    if job.wrong or not told or "append_many" not in job.parts:
        return
    right, quantity = 0, "a sequence that fills a large pool: what is read, largest relative error"
    for blocks, past in _POOLS:
        began = time.perf_counter()
        try:
            error = _filled(job, blocks)
        except (Raised, BadResult, Skipped) as fault:
            job.found.note(quantity, f"{blocks * _BLOCK} slots: {fault.message[:120]}")
            return
        if not error <= job.limit:
            where = f"right with {right} slots, wrong with {blocks * _BLOCK}" if right else ""
            job.found.limit(quantity, error, job.limit, note=where or past, **job.where("append_many"))
            why = f"{where}{past and ': ' + past}" if where else f"{blocks} blocks of {_BLOCK}"
            job.wrong.append(f"one sequence in a large pool is read back {error:.2g} off: {why}")
            return
        right = blocks * _BLOCK
        if time.perf_counter() - began > _SECONDS or bench.left < _LEFT * bench.budget:
            break
    job.found.note("slots of the largest pool that one sequence filled rightly", right)


def _filled(job: Job, blocks: int) -> float:
    """How far off a sequence is read that has all slots but those of one block, fed in one call."""
    room = blocks * _BLOCK
    sizes = PoolSizes(batch=2, heads=1, head_dim=8, max_len=room, blocks=blocks, block_size=_BLOCK)
    pool = pool_of(job.bench.worker, job.parts, sizes, lambda: job.bench.left)
    pool.add(0, room - _BLOCK)
    pool.grow(job.bench.rng("large", blocks), 0, room - _BLOCK, whole=True)
    return tokens_off(pool)[0]
