"""How much a pool holds: filled to the end, by long sequences and by sequences of one token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.pool import Pool

__all__ = ["Filled", "fill", "tokens_off"]

#: So many times what it was made for, and the pool grows as it must.
_GROWS = 3
#: Relative error of tokens that are no rounded ones.
_WRONG = 0.05


@dataclass(frozen=True, slots=True)
class Filled:
    """A pool that was filled until it refused.

    Attributes:
        tokens: Held when it refused everything.
        sequences: That hold them.
        longest: Tokens of the longest.
        refused: What it said; empty when it grew on.
    """

    tokens: int
    sequences: int
    longest: int
    refused: str = ""


def fill(bench: Bench, pool: Pool, *, each: int, name: str) -> Filled:
    """Add sequences and feed them token by token until the pool refuses.

    Args:
        bench: Draws the numbers.
        pool: What it holds already stays, and counts.
        each: Tokens per sequence at most.
        name: Of the draw.

    Raises:
        Fault: The process ended.
    """
    sizes = pool.sizes
    rng = bench.rng("fill", name)
    most = _GROWS * sizes.blocks * sizes.block_size
    held, refused = 0, ""
    for sequence in (n for n in range(sizes.batch) if n not in pool.fed):
        try:
            pool.add(sequence, each)
        except Raised as fault:
            return _filled(pool, fault.message)
        for _ in range(each):
            k, v = rng.standard_normal((2, sizes.heads, 1, sizes.head_dim)).astype(np.float32)
            try:
                pool.append(sequence, k, v)
            except Raised as fault:
                refused = fault.message
                break
            held += 1
            if held >= most:
                return _filled(pool)
        if pool.fed[sequence][0].shape[1] == 0:
            # Not one token more goes in: it is full.
            return _filled(pool, refused)
    return _filled(pool, refused)


def _filled(pool: Pool, refused: str = "") -> Filled:
    lengths = [k.shape[1] for k, _v in pool.fed.values() if k.shape[1]]
    return Filled(sum(lengths), len(lengths), max(lengths, default=0), refused)


def tokens_off(pool: Pool) -> tuple[float, str]:
    """The worst error of all that is held, relative, and where.

    Returns:
        NaN when something does not come back at all.
    """
    worst, where, bad = 0.0, "", -1
    for sequence, (k, _v) in pool.fed.items():
        if k.shape[1] == 0:
            continue
        try:
            error = pool.off(sequence)
        except (Raised, BadResult) as fault:
            return float("nan"), f"sequence {sequence} of {k.shape[1]} tokens: {fault.message}"
        if not error <= worst:
            worst, where, bad = error, f"sequence {sequence} of {k.shape[1]} tokens", sequence
        if np.isnan(worst):
            break
    return worst, f"{where}{_stands(pool, bad)}" if worst > _WRONG else where


def _stands(pool: Pool, sequence: int) -> str:
    """What stands in the wrong places of a sequence, as the end of a clause."""
    try:
        told = pool.stands(sequence, _WRONG)
    except (Raised, BadResult):
        return ""
    return f": {told}" if told else ""
