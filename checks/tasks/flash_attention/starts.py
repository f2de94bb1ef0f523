"""What a row's maximum starts from, by how far below it scores may lie until their weights underflow."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tolerance import relative_error

__all__ = ["start_of_the_maximum"]

#: N of whole tiles and of a rest, and T.
_WHOLE, _RAGGED, _TILE = 16, 18, 4
#: How far below a maximum exp(S − m) is 0 in float64, and by how much what is told of it may be off.
_UNDERFLOW, _ROUGH = 745.0, 20.0
#: Scores that may be wrong, those that are right, and halvings between.
_LEVELS, _HIGH, _HALVINGS = (-900.0, -2e4, -7e4), -100.0, 20
_OFF = 1e-3


def start_of_the_maximum(forward: Forward) -> str:
    """Whether it starts from a finite number, or takes in places past the last key, as a clause.

    Args:
        forward: What is called; it was seen wrong for scores far below 0.

    Returns:
        Empty where neither is shown.
    """
    try:
        whole = [level for level in _LEVELS if _wrong(forward, _WHOLE, level)]
        if not whole and _wrong(forward, _RAGGED, _LEVELS[0]):
            return "places past the last key, which pad its tile, enter the maximum with a score of 0"
        if not whole or _wrong(forward, _WHOLE, _HIGH):
            return ""
        low, high = whole[0], _HIGH
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _wrong(forward, _WHOLE, middle) else (low, middle)
    except Fault:
        return ""
    start = low + _UNDERFLOW
    told = "0, or a tiny number" if abs(start) < _ROUGH else f"about {start:.2g}"
    return (
        f"the maximum of a row starts from {told}, and not from -inf: scores {_UNDERFLOW:g} below underflow"
    )


def _wrong(forward: Forward, length: int, level: float) -> bool:
    """Whether rows are wrong whose scores lie near a level."""
    rng = forward.bench.rng("starts", length)
    q, k, v = (rng.standard_normal((1, 1, length, 4)) for _ in range(3))
    q[..., 0], k[..., 0] = 2.0, level
    case = Case(q, k, v, _TILE, forward.causal[-1])
    with np.errstate(all="ignore"):
        return not relative_error(forward(case), case.truth) <= _OFF
