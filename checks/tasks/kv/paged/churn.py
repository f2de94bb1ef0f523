"""Sequences that grow by turns, go, and come again: blocks end up anywhere, and nothing may show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.paged.filling import tokens_off
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error, same_bits

__all__ = ["Churned", "churn", "differs_from_solo", "worst_attention"]

_STEPS = 60
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Churned:
    """What came back.

    Attributes:
        error: The worst relative error of all that was read.
        where: After which step, and of which sequence.
        steps: Appends and frees that were made.
        freed: Sequences that went.
    """

    error: float
    where: str
    steps: int
    freed: int


def churn(bench: Bench, pool: Pool, room: int, longest: int) -> Churned:
    """Append to, free and add sequences in random order, and read everything every few steps.

    Args:
        bench: Draws what happens.
        pool: An empty one.
        room: Tokens that fit.
        longest: Tokens that one sequence may have.

    Raises:
        Raised: It refuses though there is room.
    """
    rng = bench.rng("churn")
    sizes, block = pool.sizes, pool.sizes.block_size
    worst, where, freed = 0.0, "", 0
    # A sequence that is told its length when it comes keeps to it.
    most = min(longest, 3 * block) if pool.reserves else longest
    for step in range(_STEPS):
        sequence = int(rng.integers(_AT_ONCE))
        length = pool.fed[sequence][0].shape[1] if sequence in pool.fed else 0
        taken = [most if pool.reserves else k.shape[1] for k, _v in pool.fed.values()]
        used = sum(-(-n // block) + 1 for n in taken) * block
        if length and pool.frees and rng.random() < 0.2:
            pool.free(sequence)
            freed += 1
        elif sequence not in pool.fed and used + (most if pool.reserves else block) <= room:
            pool.add(sequence, most)
        tokens = int(rng.choice([1, 1, 2, block - 1, block, block + 1]))
        length = pool.fed[sequence][0].shape[1] if sequence in pool.fed else most
        if length + tokens <= most and (pool.reserves or used + tokens + block <= room):
            k, v = rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
            pool.append(sequence, k, v, whole=bool(rng.random() < 0.5))
        if step % 6 == 5:
            error, place = tokens_off(pool)
            if not error <= worst:
                worst, where = error, f"after step {step}, {place}"
            if not worst <= 0.5:
                break
    _end_inside_a_block(pool, rng, most)
    error, place = tokens_off(pool)
    if not error <= worst:
        worst, where = error, f"after a sequence of {block + 1} tokens, {place}"
    return Churned(worst, where, _STEPS, freed)


def _end_inside_a_block(pool: Pool, rng: np.random.Generator, most: int) -> None:
    """Hold a sequence that does not fill its last block: others have left something behind it there."""
    sizes, block = pool.sizes, pool.sizes.block_size
    uneven = any(k.shape[1] % block for k, _v in pool.fed.values())
    if uneven or not pool.frees or block >= most:
        return
    sequence = min(pool.fed, default=0)
    if sequence in pool.fed:
        pool.leave(sequence)
    pool.add(sequence, most)
    k, v = rng.standard_normal((2, sizes.heads, block + 1, sizes.head_dim)).astype(np.float32)
    pool.append(sequence, k, v)


def differs_from_solo(bench: Bench, pool: Pool, solo: Pool) -> str:
    """Whether a sequence comes back in other bits than from a pool that it has to itself.

    Returns:
        Which one; empty when none.
    """
    for sequence, (k, v) in list(pool.fed.items()):
        if k.shape[1] == 0:
            continue
        solo.add(0, k.shape[1])
        solo.append(0, k, v)
        here, there = _all_of(pool, sequence), _all_of(solo, 0)
        if not all(same_bits(a, b) for a, b in zip(here, there, strict=True)):
            return f"sequence {sequence} of {k.shape[1]} tokens"
        if not solo.frees:
            break
        solo.free(0)
    return ""


def _all_of(pool: Pool, sequence: int) -> tuple[npt.NDArray[Any], ...]:
    if not pool.attends:
        return pool.stored(sequence)
    return (
        np.round(pool.attend(sequence, np.ones((pool.sizes.heads, 1, pool.sizes.head_dim), np.float32)), 5),
    )


def worst_attention(bench: Bench, pool: Pool) -> float:
    """The worst relative error of attention over the sequences that a pool holds."""
    rng = bench.rng("attends")
    errors = [0.0]
    for sequence, (k, v) in pool.fed.items():
        if k.shape[1]:
            q = rng.standard_normal((pool.sizes.heads, 1, pool.sizes.head_dim)).astype(np.float32)
            try:
                out = pool.attend(sequence, q)
            except (Raised, BadResult):
                return float("nan")
            errors.append(relative_error(out[None], attention(q[None], k[None], v[None])))
    return float("nan") if np.isnan(errors).any() else max(errors)
