"""Gradients against central differences of the submission's own forward, coloured by independence.

Heads and batches reach no output of each other, so one entry of all of them is perturbed at
once; queries reach their own row of O alone, and a column of V its own column. What is
claimed is tried first: a forward that mixes heads is differenced entry by entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.gradients import Estimate, Independence, differences, independent, projection, signs
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention, Run
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, posed, terms
from judge_tui.checks.tolerance import SLACK
from judge_tui.checks.verdict import Verdict

__all__ = ["HEADS", "against_own_forward", "as_function"]

_BATCH_AND_HEAD = ((0, 0), (1, 1))
#: How each input falls into blocks that reach no output of each other.
_BLOCKS = {
    "dQ": Independence("q", (*_BATCH_AND_HEAD, (2, 2))),
    "dK": Independence("k", _BATCH_AND_HEAD),
    "dV": Independence("v", (*_BATCH_AND_HEAD, (3, 3))),
}
#: The blocks of a projection: a direction moves all of a head at once.
HEADS = {name: Independence(name[1].lower(), _BATCH_AND_HEAD) for name in _BLOCKS}
#: An estimate whose own error is larger than this share of it shows nothing.
_ROUGH = 1e-2
#: What a log-sum-exp rounded to float32 leaves of a gradient.
_SINGLE = 8.0 * float(np.finfo(np.float32).eps)
#: Forwards that the worker keeps before it is told to forget them.
_KEPT = 32


def against_own_forward(
    bench: Bench, attention: Attention, found: Findings, where: Mapping[str, Mapping[str, Any]]
) -> float:
    """Every entry on a small draw, and ±1 projections of every head on a wide one.

    Args:
        bench: Where the submission is called.
        attention: Its forward and backward.
        found: Where the figures go.
        where: Gradient → where it is computed.

    Returns:
        The largest relative error.
    """
    errors = []
    sizes = bench.sizes("differences")
    shape, tile = (2, 2, sizes.between(3, 5), sizes.between(2, 3)), sizes.between(2, 4)
    problem = posed(bench.rng("differences"), shape, tile, attention.causal[0])
    made = attention(problem)
    for name, claimed in _BLOCKS.items():
        function, at = as_function(attention, problem), _inputs(problem)
        blocks = claimed
        if not independent(function, at, claimed, bench.rng("independence", name)):
            blocks = Independence(claimed.name)
            found.note(f"{_told(claimed)} are independent", "no", note="each entry was perturbed alone")
        estimate = differences(function, at, blocks, problem.d_out)
        size = terms(problem)[name]
        errors.append(_agrees(found, name, made[name], estimate, size, problem, "central differences", where))
    shape = (2, sizes.between(1, 2), sizes.between(26, 44), sizes.between(4, 12))
    tile, back = sizes.between(3, 12), sizes.between(3, 12)
    for causal in attention.causal:
        problem = posed(bench.rng("projected", causal), shape, tile, causal, back=back)
        errors += _projected(bench, attention, found, problem, where)
    return max(errors)


def _projected(
    bench: Bench,
    attention: Attention,
    found: Findings,
    problem: Problem,
    where: Mapping[str, Mapping[str, Any]],
) -> list[float]:
    made, errors = attention(problem), []
    for name, blocks in HEADS.items():
        direction = signs(bench.rng("signs", name, problem.case.causal), problem.case.q.shape)
        function, at = as_function(attention, problem), _inputs(problem)
        if not independent(function, at, blocks, bench.rng("independence", name, problem.case.causal)):
            continue
        estimate = projection(function, at, blocks, problem.d_out, direction)
        along = (made[name] * direction).sum(axis=(2, 3))
        # Entries of a random projection cancel, so it is measured by the length of the gradient's terms.
        size = np.linalg.norm(terms(problem)[name], axis=(2, 3))
        errors.append(_agrees(found, name, along, estimate, size, problem, "±1 projections", where))
    return errors


def as_function(attention: Attention, problem: Problem) -> Any:
    """The submission's forward as a function of q, k and v."""
    done: list[Run] = []

    def out(at: Mapping[str, Array]) -> Array:
        inputs: dict[str, Any] = dict(at)
        done.append(attention.run(replace(problem, case=replace(problem.case, **inputs))))
        answer = done[-1].out
        if len(done) >= _KEPT:
            attention.release(*done)
            done.clear()
        return answer

    return out


def _inputs(problem: Problem) -> dict[str, Array]:
    return {"q": problem.case.q, "k": problem.case.k, "v": problem.case.v}


def _told(blocks: Independence) -> str:
    further = {"q": ", rows", "v": ", columns"}.get(blocks.name, "")
    return f"batches, heads{further} of {blocks.name}"


def _agrees(
    found: Findings,
    name: str,
    made: Array,
    estimate: Estimate,
    size: Array,
    problem: Problem,
    way: str,
    where: Mapping[str, Mapping[str, Any]],
) -> float:
    """Hold a gradient against an estimate within fifty times the estimate's own noise; the relative error.

    What is no further off than float32 arithmetic warns: an L kept in float32, say, beside a float64 O.
    """
    largest = float(np.max(size))
    with np.errstate(all="ignore"):
        error = np.abs(made - estimate.value) / largest
        share = estimate.noise / largest
    limit = min(SLACK * float(np.max(share)) + 1e-9, _ROUGH)
    worst = float(np.max(np.where(np.isfinite(error), error, np.inf), initial=0.0))
    causal = "causal" if problem.case.causal else "full"
    place = {key: value for key, value in where.get(name, {}).items() if key != "note"}
    found.limit(
        f"{name}, error against {way} of its own forward over its largest sum of terms, {causal}",
        worst,
        limit,
        otherwise=Verdict.WARN if worst <= _SINGLE else Verdict.FAIL,
        note=f"{problem}; step {estimate.step:g}, five-point rule, noise {np.max(share):.1e}",
        **(place if not worst <= limit else {}),
    )
    return worst
