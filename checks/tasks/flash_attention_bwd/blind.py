"""Rows that see no key, reached by finite inputs whose scores overflow to −inf.

With keys of −inf even right code has 0 · (−inf) in dQ, so queries of 1e200 meet keys of −1e120.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Gradients, Problem, posed
from judge_tui.checks.tolerance import is_single

__all__ = ["Blind", "blinded", "in_single"]

#: Entry of a blind row's query, and of every key, whose product is −inf, by dtype.
_HUGE = {"float64": (1e200, -1e120), "float32": (1e30, -1e30)}
_HEADS, _ROWS, _ALL = "two of four heads blind", "some rows blind", "every row blind"
#: How many draws of sizes, each with fewer kinds of rows.
_DRAWS = 2


@dataclass(frozen=True, slots=True)
class Blind:
    """A call with rows that see nothing.

    Attributes:
        given: The call.
        clean: A call without them whose gradients are the right ones: same scores for the rows that
            see, no upstream gradient for the others.
        rows: (B, H, N) the rows that see nothing.
        open: (B, H, N, 1) rows of dQ whose first entry adds up huge keys and is left out of account.
    """

    given: Problem
    clean: Problem
    rows: npt.NDArray[np.bool_]
    open: npt.NDArray[np.bool_]

    @property
    def name(self) -> str:
        """What is special."""
        return self.given.case.name

    def comparable(self, made: Gradients) -> Gradients:
        """The answer as ``clean`` has it: finite first entries of dQ beside huge keys are rounding alone."""
        found = dict(made)
        first = made["dQ"][..., :1]
        found["dQ"] = np.concatenate(
            [np.where(self.open & np.isfinite(first), 0.0, first), made["dQ"][..., 1:]], axis=-1
        )
        return found


def blinded(bench: Bench, attention: Attention, dtype: npt.DTypeLike = np.float64) -> Iterator[Blind]:
    """Calls with blind heads, blind rows among others, and nothing but blind rows, causal and not."""
    for causal in attention.causal:
        for index in range(_DRAWS):
            sizes = bench.sizes("blind", causal, index)
            shape = (2, sizes.between(2, 3), sizes.between(14, 24), sizes.between(3, 12))
            tile, back = sizes.between(2, 7), sizes.between(2, 9)
            for kind in (_HEADS, _ROWS, _ALL)[: 3 - index]:
                rng = bench.rng("blind", kind, causal, index)
                problem = posed(rng, shape, tile, causal, back=back, name=kind)
                yield _blinded(problem, _chosen(rng, shape[:3], kind), np.dtype(dtype))


def _chosen(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> npt.NDArray[np.bool_]:
    rows = np.zeros(shape, dtype=bool)
    if kind == _HEADS:
        rows[0, 1], rows[1, 0] = True, True
    elif kind == _ROWS:
        # The first rows and a few others: whole tiles and parts of tiles.
        rows = np.asarray(np.less(rng.random(shape), 0.3), dtype=bool)
        rows[:, :, :6] = True
        rows[:, :, 9] = False
    else:
        rows[...] = True
    return rows


def _blinded(problem: Problem, rows: npt.NDArray[np.bool_], dtype: np.dtype[Any]) -> Blind:
    big, small = _HUGE[dtype.name]
    case = problem.case
    affected = np.asarray(rows.any(axis=-1))[..., None]
    q, k = case.q.copy(), case.k.copy()
    q[..., 0] = np.where(affected, 0.0, q[..., 0])
    k[..., 0] = np.where(affected, 0.0, k[..., 0])
    clean = replace(
        problem, case=replace(case, q=q, k=k), d_out=np.where(rows[..., None], 0.0, problem.d_out)
    ).as_type(dtype)
    q, k = q.copy(), k.copy()
    q[..., 0] = np.where(rows, big, q[..., 0])
    k[..., 0] = np.where(affected, small, k[..., 0])
    given = replace(problem, case=replace(case, q=q, k=k)).as_type(dtype)
    return Blind(given, clean, rows, (affected & ~rows)[..., None])


def in_single(bench: Bench, attention: Attention) -> bool:
    """Whether its answers to float64 input are float32 numbers, so that 1e200 is out of its range."""
    problem = posed(bench.rng("precision"), (1, 1, 9, 6), 4, attention.causal[0])
    out = attention.run(problem).out
    return is_single(out)
