"""Short runs of a pool: sequences come, grow by turns, go and come again; what it holds is then read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.binding.solver import Option, Search, Trial, trial
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYERS
from judge_tui.checks.tasks.kv.faces.chosen_pool import TooMany, pool_of
from judge_tui.checks.tasks.kv.faces.pool import Pool, PoolSizes
from judge_tui.checks.tasks.kv.finding.trials import BUDGET

__all__ = ["NEAR", "Play", "off", "played", "playing"]

#: Relative error up to which a trial's answers are right.
NEAR = 1e-2


@dataclass(frozen=True, slots=True)
class Play:
    """What is done to a small pool, of blocks of four tokens.

    Attributes:
        turns: A sequence, which comes where it is not there, and how many tokens it gets; of none it goes.
        whole: Whether the tokens of a turn go in with one call, but for the first where a sequence comes
            with that.
        reads: Whether it is read.
    """

    turns: tuple[tuple[int, int], ...]
    whole: bool = False
    reads: bool = True


def played(search: Search, option: Option, play: Play, room: int = 0) -> tuple[Pool, np.random.Generator]:
    """A pool to which it was done.

    Args:
        search: Whose pool it is.
        option: Part → binding.
        play: What is done.
        room: What a sequence is told that it will have; as many tokens as it gets, when left out.
    """
    # several layers where all go in together
    layers = LAYERS if any("L" in binding.layout for binding in option.values()) else 1
    pool = pool_of(search.worker, option, PoolSizes(layers=layers), lambda: BUDGET)
    rng = np.random.default_rng(14)
    for sequence, tokens in play.turns:
        if not tokens:
            pool.free(sequence)
            continue
        first = 0
        if sequence not in pool.fed:
            pool.add(sequence, room or sum(more for other, more in play.turns if other == sequence))
            first = int(play.whole and pool.comes_with_tokens)
        for piece in filter(None, (first, tokens - first)):
            pool.grow(rng, sequence, piece, whole=play.whole)
    return pool, rng


def off(pool: Pool, rng: np.random.Generator) -> float:
    """How far off what comes back of its sequences is, the worst of them."""
    shape = (pool.sizes.heads, 1, pool.sizes.head_dim)
    return float(np.max([pool.off(one, rng.standard_normal(shape).astype(np.float32)) for one in pool.fed]))


def playing(play: Play) -> Callable[[Search, Option], Trial]:
    """The trial that does it, and reads what is held."""

    @trial
    def tried(search: Search, option: Option) -> Trial | float:
        pool, rng = played(search, option, play)
        try:
            return off(pool, rng) if play.reads else 0.0
        except TooMany as fault:
            # the call is meant so: its answer is the submission's own
            return Trial(1.0, mistake=fault.message)

    return tried
