"""Sequences that go: once, twice, and ten thousand of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.paged.churn import worst_attention
from judge_tui.checks.tasks.kv.paged.cycles import cycles
from judge_tui.checks.tasks.kv.paged.filling import Filled, fill, tokens_off
from judge_tui.checks.tasks.kv.paged.fullness import as_much
from judge_tui.checks.tasks.kv.paged.job import Job

__all__ = ["judge_cycled", "judge_freed_twice", "judge_returned"]

#: An error, and where it was.
Placed = tuple[float, str]
#: Tokens beyond a block that a number has each time that it comes again, when another sequence has taken its
#: blocks: as many as before, which shows a table that outlived it; then fewer, which shows what a block kept.
_BEYOND = ((2, 2, 2, 2), (3, 1, 2, 1))


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
    pool.names.pop(0, None)
    fill(job.bench, pool, each=2 * sizes.block_size, name="twice")
    worst, place = tokens_off(pool)
    ok = job.found.limit(
        "a sequence freed twice, then others till it is full: what is read, largest relative error",
        worst, job.limit,
        note=f"the second time: {said[:120] or 'taken without a word'}{place and '; worst at ' + place}",
        **job.where("free"),
    )  # fmt: skip
    if not ok:
        share = "read back wrong" if "of the same sequence" in place else "share blocks"
        job.wrong.append(f"after a sequence is freed twice others {share} ({place})")


def judge_returned(job: Job) -> None:
    """A number that goes, and comes again, when others have the blocks that it had."""
    runs = [_come_again(job, beyond) for beyond in _BEYOND]
    # where the smallest spare number comes first, the next to come has it, and the same blocks; two turns
    # need no more room than four without growth
    runs.append(_come_again(job, (2, 2), grows=True))
    quantity = f"a number that goes and comes again {len(_BEYOND[0])} times, others on its blocks: "
    read, place = _worst(read for read, _attended in runs)
    if not job.found.limit(
        f"{quantity}what is read, largest relative error", read, job.limit, note=place, **job.where("free"),
    ):  # fmt: skip
        job.wrong.append(f"a number that comes again gives back what is another's ({place})")
        return
    attended, place = _worst(attended for _read, attended in runs)
    if not job.found.limit(
        f"{quantity}attention, largest relative error", attended,
        max(job.limit, precision("float32").limit(0.0)), note=place, **job.where("attend", "free"),
    ):  # fmt: skip
        job.wrong.append(f"attention of a number that comes again sees what is another's ({place})")


def _come_again(job: Job, beyond: Sequence[int], *, grows: bool = False) -> tuple[Placed, Placed]:
    """Turns of so many tokens beyond a block: what is read, and attention where it can be asked as well.

    Args:
        job: What is judged.
        beyond: Tokens beyond a block, turn by turn.
        grows: Whether a sequence that stays takes a block of the one that went before another comes.
    """
    pool = job.pool()
    sizes = pool.sizes
    rng = job.bench.rng("returned", *beyond, *("grows",) * grows)

    def feed(sequence: int, tokens: int) -> None:
        x = rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
        pool.append(sequence, *x, whole=len({*beyond}) == 1)

    read: list[Placed] = []
    attended: list[Placed] = []
    for turn, more in enumerate(beyond, 1):
        tokens = sizes.block_size + more
        # read before it goes: what is remembered of a number must go with it
        for sequence in (turn, 0):
            pool.add(sequence, tokens + sizes.block_size * (grows and sequence > 0))
            feed(sequence, tokens)
        error, where = tokens_off(pool)
        read.append((error, f"{where}, turn {turn}"))
        if np.isnan(error):
            break
        if "attend" in pool.bound and not pool.attends:
            attended.append((worst_attention(job.bench, pool), f"{tokens} tokens, turn {turn}"))
        pool.leave(0)
        if grows:
            feed(turn, sizes.block_size)
    return _worst(read), _worst(attended)


def _worst(errors: Iterable[Placed]) -> Placed:
    """The largest error, NaN before all; 0 of none."""
    return max([(0.0, ""), *errors], key=lambda one: (np.isnan(one[0]), one[0]))


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
            quantity, False, measured=f"{done.finished}, then it {fault.brief(120)}", limit=10_000,
            file=fault.file or where.get("file"), line=fault.line or where.get("line"), output=fault.output,
        )  # fmt: skip
        job.wrong.append(f"after {done.finished} sequences came and went: {fault.brief(90)}")
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
