"""Whether a forward is right but for a lower precision, by one mild call and one on small integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.precision import Lowered, lowered, same
from judge_tui.checks.rounded_attention import attention_in_steps
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.rows import Rows
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["hidden", "integers", "lower_precision", "mild", "of_lower_precision"]

#: (B, H, N, D) of the mild call: in one tile, and with a √D that is no power of two.
_MILD = (1, 2, 16, 8)
#: And of the one on integers, where it is.
_WHOLE = (1, 2, 8, 4)

#: By how much scores are made smaller, a power of two, and what of a rounding's error is left of it at least.
_NEARER, _LEFT = 64.0, 16.0


def of_lower_precision(forward: Forward, rows: Rows) -> Lowered | None:
    """What is told of rows that are not right, where a lower precision is all that is wrong with them.

    Args:
        forward: What was called.
        rows: The cases.
    """
    off = [held.error for held in rows.held if held.verdict is not Verdict.PASS]
    found = lower_precision(forward) if off else None
    return found if found is not None and found.explains(off, len(rows.held)) else None


def lower_precision(forward: Forward) -> Lowered | None:
    """What a forward's deviation is, where it is that of a lower precision; for one that was seen wrong.

    Args:
        forward: What is called.
    """
    bench, causal = forward.bench, forward.causal[-1]
    case = mild(bench.rng("lower precision"), causal)
    try:
        made = {"O": forward(case)}
        found = lowered(
            made,
            lambda by: {"O": attention_in_steps(by, case.q, case.k, case.v, hidden(case))},
            exact=_exact(forward, causal),
            together=(("Q", "K"), ("Q", "K", "V")),
        )
        # a cap on scores departs from them by as little as rounding does, but not near 0
        return None if found is None or (not found.steps and _vanishes(forward, case, found.error)) else found
    except Fault:
        return None


def _vanishes(forward: Forward, case: Case, error: float) -> bool:
    """Whether a deviation is gone where all scores are near 0, as no rounding of sums and products is."""
    near = replace(case, q=case.q / _NEARER)
    return relative_error(forward(near), near.truth, axis=(-2, -1)) < error / _LEFT


def mild(rng: np.random.Generator, causal: bool) -> Case:
    """A case whose rounding errors can be foretold step by step: float64, one tile."""
    return drawn(rng, _MILD, _MILD[2], causal)


def hidden(case: Case) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(N, N), which scores the case's mask hides."""
    return np.triu(np.ones((case.q.shape[2],) * 2, dtype=bool), 1) & case.causal


def integers(rng: np.random.Generator, causal: bool, ties: int) -> Case:
    """Small integers of which every number on the way to O is one too, or a half: no type rounds any.

    Args:
        rng: Draws them.
        causal: Whether with the mask.
        ties: Keys that share all the weight, 1 or 2; the scores of the others are 128 below.
    """
    q, k = np.zeros(_WHOLE), np.zeros(_WHOLE)
    q[..., 0], q[..., 1] = 8.0, rng.integers(-3, 4, _WHOLE[:3])
    k[..., 0] = -32.0
    # The keys on top and the queries have no coordinate in common.
    k[:, :, :ties] = 0.0
    k[:, :, :ties, 2:] = rng.integers(-3, 4, (*_WHOLE[:2], ties, 2))
    v = 2.0 * rng.integers(-3, 4, _WHOLE)
    return Case(q, k, v, _WHOLE[2], causal, "small integers")


def _exact(forward: Forward, causal: bool) -> Callable[[float], bool]:
    def exact(share: float) -> bool:
        for ties in (2, 1):
            case = integers(forward.bench.rng("integers", ties), causal, ties)
            answers: dict[str, Array] = {"O": forward(case)}
            if same(answers, {"O": case.truth}, share):
                return True
        return False

    return exact
