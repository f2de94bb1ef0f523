"""Sequences of a paged cache that were forked or taken back: blocks that are shared until one writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.faces.sharing import fork, roll_back_sequence
from judge_tui.checks.tasks.kv.paged.filling import Filled, fill, tokens_off
from judge_tui.checks.tasks.kv.paged.fullness import as_much
from judge_tui.checks.tasks.kv.paged.job import Job

__all__ = ["judge"]


def judge(job: Job, full: Filled | None) -> None:
    """Fork and take back, at the end of a block and inside it, and let others come and go meanwhile.

    Args:
        job: What is judged.
        full: How much goes into an empty pool, where sequences can go.
    """
    if "fork" in job.parts:
        for case in _FORKS:
            _judged(job, case, "fork", full)
        _none_free(job)
        _shares(job)
        if not job.wrong:
            job.said.append("forked sequences stay apart")
    if "roll_back" in job.parts:
        before = len(job.wrong)
        for case in _TAKEN_BACK:
            _judged(job, case, "roll_back", full)
        for case in _FORKED_BACK if "fork" in job.parts else ():
            _judged(job, case, "roll_back", full)
        if len(job.wrong) == before:
            job.said.append("tokens that are taken back are gone, and the rest stays")


@dataclass(slots=True)
class Play:
    """A paged cache that things are done to, each sequence with its own tokens."""

    bench: Bench
    pool: Pool
    rng: np.random.Generator

    @property
    def block(self) -> int:
        """Tokens of a block."""
        return self.pool.sizes.block_size

    def come(self, sequence: int, tokens: int) -> None:
        """A new sequence, which is told of three more blocks than it has at first."""
        self.pool.add(sequence, tokens + 3 * self.block)
        self.more(sequence, tokens)

    def more(self, sequence: int, tokens: int = 1) -> None:
        """Further tokens of a sequence, one by one."""
        sizes = self.pool.sizes
        k, v = self.rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
        self.pool.append(sequence, k, v, whole=False)

    def fork(self, parent: int, child: int) -> None:
        """A sequence with the past of another."""
        fork(self.pool, parent, child)

    def crowd(self) -> None:
        """Others come and take every block that is free."""
        fill(self.bench, self.pool, each=self.pool.sizes.max_len, name="crowd")

    def back(self, sequence: int, tokens: int) -> None:
        """The newest tokens go."""
        roll_back_sequence(self.pool, sequence, tokens)


@dataclass(frozen=True, slots=True)
class Case:
    """Something that is done to a paged cache.

    Attributes:
        words: For the evidence.
        run: Does it.
        frees: Whether sequences go in it.
    """

    words: str
    run: Callable[[Play], None]
    frees: bool = False


def _judged(job: Job, case: Case, part: str, full: Filled | None) -> None:
    """Hold all that a pool holds against what was fed, and fill it again once it is empty."""
    if case.frees and not job.frees:
        return
    pool, where = job.pool(), job.where(part)
    quantity = f"{case.words}: what is read, largest relative error"
    try:
        case.run(Play(job.bench, pool, job.bench.rng("sharing", case.words)))
    except (Raised, BadResult) as fault:
        at = {"file": fault.file, "line": fault.line} if fault.file else where
        job.found.claim(quantity, False, measured=fault.brief(160), limit="goes", output=fault.output, **at)
        job.wrong.append(f"{case.words}: {fault.brief(90)}")
        return
    worst, place = tokens_off(pool)
    if not job.found.limit(quantity, worst, job.limit, note=place, **where):
        job.wrong.append(f"{case.words}: what is read is off by {worst:.2g} ({place})")
        return
    if full is not None and full.refused:
        pool.leave(*pool.fed)
        as_much(job, pool, full, f"{case.words}, then all go", "shared again")


def _inside(play: Play, *writers: int) -> None:
    play.come(0, play.block + 2)
    play.fork(0, 1)
    for sequence in writers:
        play.more(sequence)
    for sequence in (1, 0, 0, 1):
        play.more(sequence, 2)


def _at_the_end(play: Play) -> None:
    play.come(0, 2 * play.block)
    play.fork(0, 1)
    for sequence in (1, 0, 1, 0):
        play.more(sequence, 3)


def _three(play: Play) -> None:
    play.come(0, 3)
    play.fork(0, 1)
    play.fork(0, 2)
    play.more(2, 1)
    play.fork(2, 3)
    for sequence in (3, 0, 2, 1):
        play.more(sequence, 3)


def _goes(play: Play, first: int) -> None:
    stays = 1 - first
    play.come(0, play.block + 2)
    play.fork(0, 1)
    play.pool.leave(first)
    play.more(stays, 3)
    play.crowd()


def _written_then_goes(play: Play) -> None:
    play.come(0, play.block + 2)
    play.fork(0, 1)
    play.more(1, 3)
    play.pool.leave(1)
    play.more(0, 3)
    play.crowd()


_FORKS = (
    Case("forked inside a block, the child writes first", lambda play: _inside(play, 1, 0)),
    Case("forked inside a block, the parent writes first", lambda play: _inside(play, 0, 1)),
    Case("forked at the end of a block", _at_the_end),
    Case("a fork of a fork, four of one past", _three),
    Case("forked, the parent goes and others take what is free", lambda play: _goes(play, 0), frees=True),
    Case("forked, the child goes and others take what is free", lambda play: _goes(play, 1), frees=True),
    Case("forked, the child writes and goes, and others take what is free", _written_then_goes, frees=True),
)


def _inside_back(play: Play) -> None:
    play.come(0, play.block + 3)
    play.come(1, 2)
    play.back(0, 2)
    play.more(1, 3)
    play.more(0, 4)


def _over_the_edge(play: Play) -> None:
    play.come(0, 2 * play.block + 1)
    play.back(0, 3)
    play.come(1, play.block + 1)
    play.more(0, play.block + 1)
    play.more(1, 2)
    play.crowd()


def _to_the_edge(play: Play) -> None:
    play.come(0, 2 * play.block + 2)
    play.back(0, play.block + 2)
    play.come(1, 2 * play.block)
    play.more(0, 1)


_TAKEN_BACK = (
    Case("tokens inside a block taken back, others come", _inside_back),
    Case("tokens over the edge of a block taken back, others come", _over_the_edge),
    Case("all tokens of a block and more taken back, others come", _to_the_edge),
)


def _shared_back(play: Play, one: int) -> None:
    play.come(0, 2 * play.block + 2)
    play.fork(0, 1)
    play.back(one, play.block + 1)
    play.more(one, 3)
    play.come(2, 2 * play.block)
    play.more(1 - one, 3)
    play.crowd()


_FORKED_BACK = (
    Case("forked, shared tokens of the child taken back, others come", lambda play: _shared_back(play, 1)),
    Case("forked, shared tokens of the parent taken back, others come", lambda play: _shared_back(play, 0)),
)


def _none_free(job: Job) -> None:
    """Forked when no block is free: what a writer cannot have it is refused, and the others lose nothing."""
    pool = job.pool()
    full = fill(job.bench, pool, each=2 * pool.sizes.block_size - 2, name="crowded")
    if not full.refused or len(pool.fed) < 2:
        return
    parent, child = 0, pool.sizes.batch
    words = "forked when no block is free, and written to"
    said = "taken"
    try:
        fork(pool, parent, child)
        Play(job.bench, pool, job.bench.rng(words)).more(child, 1)
    except (Raised, BadResult) as fault:
        said = fault.message
        if "free" in pool.bound and child in pool.fed:
            pool.leave(child)
        pool.fed.pop(child, None)
    worst, place = tokens_off(pool)
    if not job.found.limit(
        f"{words}: what is read, largest relative error", worst, job.limit,
        note=f"{said[:120]}{place and '; worst at ' + place}", **job.where("fork"),
    ):  # fmt: skip
        job.wrong.append(f"{words}: tokens are lost ({place})")


def _shares(job: Job) -> None:
    """How many forks of a long sequence a pool takes: evidence of whether blocks are shared."""
    pool = job.pool()
    tokens = pool.sizes.blocks // 2 * pool.sizes.block_size
    play = Play(job.bench, pool, job.bench.rng("shares"))
    children = 0
    try:
        play.come(0, tokens)
        for child in range(1, 5):
            fork(pool, 0, child)
            children += 1
    except (Raised, BadResult):
        pass
    how = "blocks are shared" if children > 1 else "a fork takes blocks of its own"
    job.found.note(
        f"forks of a sequence that fills half of the pool ({tokens} tokens), of 4", children, note=how,
        **job.where("fork"),
    )  # fmt: skip
