"""Sequences that go: once, twice, and ten thousand of them."""

from __future__ import annotations

import numpy as np
from judge_tui.checks.tasks.kv.paging.cycles import cycles
from judge_tui.checks.tasks.kv.paging.filling import Filled, fill, tokens_off
from judge_tui.checks.tasks.kv.paging.fullness import as_much
from judge_tui.checks.tasks.kv.paging.job import Job
from judge_tui.checks.tasks.kv.paging.pool import Pool

__all__ = ["judge_cycled", "judge_freed_twice", "judge_returned"]

#: Times that a number comes again; each time another sequence has taken its blocks.
_TURNS = 4


def judge_freed_twice(job: Job) -> None:
    """The same sequence freed twice, then the pool filled with others: no block may be in two of them."""
    pool = job.pool()
    sizes = pool.sizes
    rng = job.bench.rng("twice")

    def fed(sequence: int, tokens: int) -> None:
        k, v = rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
        pool.append(sequence, k, v)

    for sequence in (0, 1):
        pool.add(sequence, 12)
        fed(sequence, 6)
    pool.free(0)
    said = pool.twice(0)
    pool.ids.pop(0, None)
    fill(job.bench, pool, each=2 * sizes.block_size, name="twice")
    worst, place = tokens_off(pool)
    ok = job.found.limit(
        "a sequence freed twice, then others till it is full: what is read, largest relative error",
        worst, job.limit,
        note=f"the second time: {said[:120] or 'taken without a word'}{place and '; worst at ' + place}",
        **job.where("free"),
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"after a sequence is freed twice others share blocks ({place})")


def judge_returned(job: Job) -> None:
    """A number that goes, and comes again as long as before, when others have the blocks that it had."""
    pool = job.pool()
    sizes = pool.sizes
    rng, tokens = job.bench.rng("returned"), sizes.block_size + 2
    worst, place = 0.0, ""
    for turn in range(_TURNS):
        # read before it goes: what is remembered of a number must go with it
        for sequence in (turn + 1, 0):
            pool.add(sequence, tokens)
            x = rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
            pool.append(sequence, *x)
        error, where = tokens_off(pool)
        if not error <= worst:
            worst, place = error, f"{where}, turn {turn + 1}"
        if np.isnan(worst):
            break
        pool.leave(0)
    if not job.found.limit(
        f"a number that goes and comes again {_TURNS} times, others on its blocks: what is read, largest "
        "relative error",
        worst, job.limit, note=place, **job.where("free"),
    ):  # fmt: skip
        job.wrong.append(f"a number that comes again gives back what is another's ({place})")


def judge_cycled(job: Job, full: Filled) -> None:
    """Ten thousand that come and go beside one that stays: nothing is lost, and the room is the same."""
    pool = job.pool()
    sizes = pool.sizes
    rng = job.bench.rng("cycles")
    pool.add(0, 6)
    pool.append(0, *rng.standard_normal((2, sizes.heads, 6, sizes.head_dim)).astype(np.float32))
    live = int(np.clip((full.tokens // sizes.block_size - 3) // 3, 1, 3))
    done = cycles(pool, rng, live)
    where = job.where("free")
    quantity = f"sequences that come, are fed and go, {live} at once"
    note = "as many as the time allows" if done.cut else ""
    if done.fault is not None:
        fault = done.fault
        job.found.claim(
            quantity, False, measured=f"{done.finished}, then it {fault.message[:120]}", limit=10_000,
            file=fault.file or where.get("file"), line=fault.line or where.get("line"), output=fault.output,
        )  # fmt: skip
        job.wrong.append(f"after {done.finished} sequences came and went: {fault.message[:90]}")
        return
    job.found.claim(quantity, True, measured=done.finished, limit=10_000, note=note, **where)
    worst, place = tokens_off(pool)
    if not job.found.limit(
        "one that stayed all the while: what is read, largest relative error", worst, job.limit, note=place,
        **job.where("free"),
    ):  # fmt: skip
        job.wrong.append(f"a sequence that stayed is off by {worst:.2g} after {done.finished} others")
    _same_room(job, pool, full, done.finished)
    before, after = done.nbytes
    if not job.found.limit(
        f"bytes kept after {done.finished} sequences over those after 100", after / max(before, 1), 1.5,
        note=f"{before} B and {after} B", **where,
    ):  # fmt: skip
        job.wrong.append(f"{done.finished} sequences that went left {after - before} bytes behind")
    job.said.append(f"{done.finished:,} sequences came and went, nothing lost")


def _same_room(job: Job, pool: Pool, full: Filled, finished: int) -> None:
    if full.refused:
        pool.leave(0)
        as_much(job, pool, full, f"after {finished} sequences came and went", "after")
