"""Whether wrong gradients are made of what another call was given, or are added to what that one gave."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.earlier_calls import AFTER, STILL_THERE, taken_from
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention_bwd.exchanged import alike, formula
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import (
    Gradients,
    Problem,
    gradients,
    logsumexp,
    posed,
)

__all__ = ["of_another_call"]

#: (B, H, N, D) and T of the calls.
_SHAPE, _TILE = (2, 2, 11, 6), 4
_SAME = 1e-6


def of_another_call(bench: Bench, attention: Attention) -> str:
    """What of another call is in the gradients, as a clause; for a backward that was seen wrong.

    A process of its own is asked, in which nothing was called before: one call after the other, then both
    forwards before either backward.

    Args:
        bench: Where it is judged.
        attention: What is called.
    """
    settings = attention.causal
    problems = [
        posed(bench.rng("earlier", at), _SHAPE, _TILE, causal)
        for at, causal in enumerate((settings[0], settings[0], settings[-1]))
    ]
    try:
        with bench.fresh() as worker:
            for file in attention.files:
                worker.load(file)
            made = [attention(problem, worker=worker) for problem in problems]
            with np.errstate(all="ignore"):
                for at, (first, second) in enumerate(itertools.pairwise(problems), 1):
                    if known := _told(made[at], first, second):
                        alone = _alike(_alone(bench, attention, second), made[at])
                        return "" if alone else known
                if known := _still_there(bench, attention, problems, made):
                    return known
            runs = [attention.run(problem, worker=worker) for problem in (second, first)]
            late = attention.backward(runs[0], worker=worker)
    except Fault:
        return ""
    if not attention.carrier:
        return ""
    with np.errstate(all="ignore"):
        return taken_from(late, _inputs(second), _inputs(first), _given, _alike, call=AFTER)


def _still_there(
    bench: Bench, attention: Attention, problems: Sequence[Problem], made: Sequence[Gradients]
) -> str:
    """Whether the first call is right, and a later one is that is right where it is the first."""
    for problem, given in zip(problems, made, strict=True):
        if not _alike(given, truth := gradients(problem)):
            later = problem is not problems[0] and _alike(_alone(bench, attention, problem), truth)
            return STILL_THERE if later else ""
    return ""


def _alone(bench: Bench, attention: Attention, problem: Problem) -> Gradients:
    """The answer where nothing was called before: what is the same then hangs on no other call."""
    with bench.fresh() as worker:
        for file in attention.files:
            worker.load(file)
        return attention(problem, worker=worker)


def _told(made: Gradients, first: Problem, second: Problem) -> str:
    one, two = gradients(first), gradients(second)
    if _alike(made, two):
        return ""
    added = [name for name in made if alike({name: made[name]}, {name: one[name] + two[name]}, _SAME)]
    if added and _alike(
        {name: made[name] for name in made if name not in added},
        {name: two[name] for name in made if name not in added},
    ):
        are = "is" if len(added) == 1 else "are"
        return f"{', '.join(added)} {are} added to what the call before gave"
    return taken_from(made, _inputs(second), _inputs(first), _given, _alike)


def _inputs(problem: Problem) -> dict[str, Any]:
    case = problem.case
    return {
        "Q": case.q, "K": case.k, "V": case.v, "dO": problem.d_out, "L": logsumexp(case), "O": case.truth,
        "rowsum(dO ∘ O)'s dO": problem.d_out, "the mask": case.causal,
    }  # fmt: skip


def _given(inputs: Mapping[str, Any]) -> Gradients:
    row = (inputs["rowsum(dO ∘ O)'s dO"] * inputs["O"]).sum(axis=-1)
    return formula({**inputs, "rowsum(dO ∘ O)": row}, causal=inputs["the mask"])


def _alike(made: Gradients, wanted: Gradients) -> bool:
    return alike(made, wanted, _SAME)
