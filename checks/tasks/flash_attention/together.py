"""Rows of one tile that get in each other's way: one that is right by itself is wrong beside another.

Scores are a number of the row times one of the key, so that each row rises or falls by as much as is asked
for from the first tile of keys to the last one. The last two rows stand in one tile; the others score 0.
"""

from __future__ import annotations

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tolerance import relative_error

__all__ = ["rows_together"]

#: The largest argument of exp in float64; what is well within it, and beyond what it and its inverse tell.
_RANGE, _WITHIN, _BEYOND = 709, 600.0, 800.0
#: (B, H, N, D) and T.
_SHAPE, _TILE = (1, 1, 16, 4), 8
#: Rises that are tried, and halvings between two of them.
_RISES, _HALVINGS = 2.0 ** np.arange(-2, 11), 12
#: How far a row is from the truth where it is wrong.
_OFF = 1e-3


def rows_together(forward: Forward) -> str:
    """What a row does to another of its tile, as a clause; empty where each is right beside any other.

    Args:
        forward: What is called; it was seen wrong with rows of all kinds in a tile.
    """
    try:
        return _shared(forward) or _led(forward)
    except Fault:
        return ""


def _shared(forward: Forward) -> str:
    """Whether a row far below another of its tile underflows."""
    alone = _off(forward, -_BEYOND, -_BEYOND, rising=False)
    told = [_off(forward, -by, 0.0, rising=False) for by in (_WITHIN, _BEYOND)]
    if alone or told != [False, True]:
        return ""
    return "rows of a tile share a maximum: one that lies more than 745 below another's underflows"


def _led(forward: Forward) -> str:
    """Whether a row that falls is wrong beside one that rises."""
    if _off(forward, -_BEYOND, -_BEYOND) or _off(forward, -_WITHIN, _BEYOND) or _off(forward, -_BEYOND, 0.0):
        return ""
    wrong = [_off(forward, -_BEYOND, float(rise)) for rise in _RISES]
    first = wrong.index(True) if any(wrong) else len(wrong)
    if not all(wrong[first:]) or first == len(wrong):
        return ""
    least = _least_rise(forward, float(_RISES[first]))
    by = f"by more than {least:.3g} " if least else ""
    return (
        f"where one row of a tile rises {by}the maxima of the others follow their tile down: "
        f"exp(m_old - m_new) overflows in rows that fall by more than {_RANGE}"
    )


def _least_rise(forward: Forward, most: float) -> float:
    """From which rise on a row is wrong that falls beside it; 0 for any."""
    right, wrong = most / 2, most
    if most == _RISES[0]:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (right + wrong) / 2
        right, wrong = (right, middle) if _off(forward, -_BEYOND, middle) else (middle, wrong)
    return wrong


def _off(forward: Forward, last: float, other: float, *, rising: bool = True) -> bool:
    """Whether the last row is wrong, by what it rises beside by what the one before does, or their levels."""
    rng = forward.bench.rng("together")
    q, k, v = np.zeros(_SHAPE), np.zeros(_SHAPE), rng.standard_normal(_SHAPE)
    q[..., -1, 0], q[..., -2, 0] = last, other
    k[..., 0] = _SHAPE[-1] ** 0.5
    if rising:
        k[:, :, :_TILE, 0] = 0.0
    case = Case(q, k, v, _TILE, forward.causal[-1])
    with np.errstate(all="ignore"):
        return not relative_error(forward(case)[:, :, -1:], case.truth[:, :, -1:]) <= _OFF
