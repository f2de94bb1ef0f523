"""What stands for -inf where keys are hidden, by two keys of which a row sees the first alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array

__all__ = ["outweighed_hiding"]

#: Differences of scores that are tried at first, and how many lie between two of them later.
_LEVELS, _FINER = 2.0 ** np.arange(1, 41), 32
#: Calls at most that narrow where a hidden key begins to count.
_ROUNDS = 6
#: A weight that tells by how much a hidden key is pushed down.
_CLEAR = 1e-6
#: By how much less a hidden key may score and count all the same, past what is an error: ln 1e-8.
_TOUCHES = 20.0
#: From so much above a row's own scores on exp of these is 0.
_UNDERFLOW = 760.0


def outweighed_hiding(forward: Forward, wrong: Sequence[Case]) -> str:
    """What stands for -inf, or that the maximum is taken before the mask, as a clause.

    Args:
        forward: What is called; it was seen wrong.
        wrong: The cases that it answers wrongly: only what all of them reach is told.
    """
    reached = min((_reach(case) for case in wrong if case.causal), default=0.0)
    if True not in forward.causal or not reached:
        return ""
    try:
        with np.errstate(all="ignore"):
            stood_in = _stand_in(forward, reached) if all(case.causal for case in wrong) else ""
            return stood_in or _early(forward, reached)
    except Fault:
        return ""


def _stand_in(forward: Forward, reached: float) -> str:
    least, most = 0.0, reached + _TOUCHES
    if added := _from(forward, hidden=1.0, seen=0.0):
        return f"hidden scores get {-added:.4g} added, not -inf" if least < added <= most else ""
    if put := _from(forward, hidden=0.0, seen=-1.0):
        return f"hidden keys get the score {-put:.4g}, not -inf" if least < put <= most else ""
    return ""


def _early(forward: Forward, reached: float) -> str:
    """Whether a row's maximum takes in hidden keys, which then leave the others nothing."""
    first, later = (_weights(forward, _LEVELS, hidden=1.0, seen=0.0)[:, key] for key in (0, 1))
    lost = ~(np.abs(first - 1.0) <= _CLEAR)
    early = lost[_LEVELS > _UNDERFLOW].all() and not lost[_LEVELS < _UNDERFLOW / 2].any()
    if early and not (later > _CLEAR).any() and reached + _TOUCHES > _UNDERFLOW / 2:
        return "the row maximum is taken before the mask: hidden scores far above a row's own leave it 0"
    return ""


def _from(forward: Forward, *, hidden: float, seen: float) -> float:
    """How much more than the seen key a hidden one must score to count as much; 0 where none does."""
    levels = _LEVELS
    for _ in range(_ROUNDS):
        weights = _weights(forward, levels, hidden=hidden, seen=seen)[:, 1]
        clear = np.flatnonzero((weights > _CLEAR) & (weights < 1 - _CLEAR))
        if len(clear):
            at, weight = levels[clear[0]], weights[clear[0]]
            return float(at - np.log(weight / (1 - weight)))
        counts = np.flatnonzero(weights > 0.5)
        if not len(counts):
            return 0.0
        last = int(counts[0])
        start = levels[last - 1] if last else 0.0
        if levels[last] - start <= 1e-4 * levels[last]:
            return float(levels[last])
        levels = np.linspace(start, levels[last], _FINER)
    return float(levels[-1])


def _weights(forward: Forward, levels: Array, *, hidden: float, seen: float) -> Array:
    """The weights of both keys in the first row, a batch entry for each difference of scores (L, 2)."""
    q = np.zeros((len(levels), 1, 2, 4))
    k, v = np.zeros_like(q), np.zeros_like(q)
    # the second row scores 0, so that it lends the first one nothing where they share a maximum
    q[:, :, 0, 0] = 2.0
    k[:, 0, 0, 0], k[:, 0, 1, 0] = seen * levels, hidden * levels
    v[:, 0, 0, 0] = v[:, 0, 1, 1] = 1.0
    return forward(Case(q, k, v, 2, True))[:, 0, 0, :2]


def _reach(case: Case) -> float:
    """How far apart scores of one row are at most, hidden ones among them."""
    q, k = (a.astype(np.float64) for a in (case.q, case.k))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    below = np.abs(scores).max(axis=-1)
    return float(np.maximum(np.ptp(scores, axis=-1), below).max())
