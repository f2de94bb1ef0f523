"""A pool whose blocks the caller chooses: what its calls look up and write is judged, and no more."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.paged.filling import Filled, tokens_off
from judge_tui.checks.tasks.kv.paged.job import Job

__all__ = ["judge_filled", "not_judged"]

#: What such a pool is never asked.
_CALLERS = "which block is whose, when one comes back, and what happens when none is left"


def judge_filled(job: Job) -> tuple[Filled, Pool]:
    """Every slot of every block written, by three sequences that grow by turns, in calls of all lengths.

    Returns:
        How much there is room for, and the pool.
    """
    pool = job.pool()
    sizes = pool.sizes
    each = min(sizes.max_len, sizes.blocks // 3 * sizes.block_size)
    rng = job.bench.rng("every slot")
    try:
        for sequence in range(3):
            pool.add(sequence)
        while any(_length(pool, sequence) < each for sequence in range(3)):
            for sequence in range(3):
                tokens = min(int(rng.integers(1, sizes.block_size + 2)), each - _length(pool, sequence))
                x = rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
                pool.append(sequence, *x)
        worst, place = tokens_off(pool)
    except (Raised, BadResult) as fault:
        worst, place = float("nan"), fault.message
    if not job.found.limit(
        "every slot written, blocks of a sequence scattered: what is read, largest relative error",
        worst, job.limit, note=f"{3 * each} tokens in {sizes.blocks} blocks{place and '; worst at ' + place}",
        **job.where("attend", "read"),
    ):  # fmt: skip
        off = "do not come back" if np.isnan(worst) else f"are off by {worst:.2g}"
        job.wrong.append(f"tokens in blocks that the caller chose {off} ({place})")
    job.said.append(f"{3 * each} tokens in {sizes.blocks} blocks of {sizes.block_size} that the caller chose")
    return Filled(3 * each, 3, each), pool


def _length(pool: Pool, sequence: int) -> int:
    return int(pool.fed[sequence][0].shape[1])


def not_judged(job: Job) -> None:
    """Say what such a pool leaves to its caller, of which nothing can be told."""
    job.found.note(_CALLERS, "not judged", note="the caller chooses the blocks", **job.where("append"))
    job.said.append(f"{_CALLERS}, is the caller's, and not judged")
