"""Whether a wrong O is made of what an earlier call was given, or is added to what that one gave."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from judge_tui.checks.earlier_calls import STILL_THERE, taken_from
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array, attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["of_an_earlier_call"]

#: (B, H, N, D) and T of the calls.
_SHAPE, _TILE = (2, 2, 11, 6), 4
_SAME = 1e-6


def of_an_earlier_call(forward: Forward) -> str:
    """What of an earlier call is in the answer, as a clause; for a forward that was seen wrong.

    A process of its own is asked, in which nothing was called before.
    """
    bench, settings = forward.bench, forward.causal
    cases = [
        drawn(bench.rng("earlier", at), _SHAPE, _TILE, causal)
        for at, causal in enumerate((settings[0], settings[0], settings[-1]))
    ]
    try:
        with bench.fresh() as worker:
            worker.load(forward.binding.file)
            made = [forward(case, worker=worker) for case in cases]
        with np.errstate(all="ignore"):
            for at, (first, second) in enumerate(itertools.pairwise(cases), 1):
                added = _alike(made[at], made[at - 1] + second.truth)
                known = "it is added to what the call before it gave" if added else ""
                known = known or taken_from(made[at], _inputs(second), _inputs(first), _attention, _alike)
                if known:
                    return "" if _alike(_alone(forward, second), made[at]) else known
            return _still_there(forward, cases, made)
    except Fault:
        return ""


def _still_there(forward: Forward, cases: Sequence[Case], made: Sequence[Array]) -> str:
    """Whether the first call is right, and a later one is that is right where it is the first."""
    for case, out in zip(cases, made, strict=True):
        if not _alike(out, case.truth):
            later = case is not cases[0] and _alike(_alone(forward, case), case.truth)
            return STILL_THERE if later else ""
    return ""


def _alone(forward: Forward, case: Case) -> Array:
    """The answer where nothing was called before: what is the same then hangs on no other call."""
    with forward.bench.fresh() as worker:
        worker.load(forward.binding.file)
        return forward(case, worker=worker)


def _inputs(case: Case) -> dict[str, Any]:
    return {"Q": case.q, "K": case.k, "V": case.v, "the mask": case.causal}


def _attention(inputs: Mapping[str, Any]) -> Array:
    return attention(inputs["Q"], inputs["K"], inputs["V"], inputs["the mask"])


def _alike(made: Array, wanted: Array) -> bool:
    return relative_error(made, wanted) <= _SAME
