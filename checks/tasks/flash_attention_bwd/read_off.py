"""The P and the dS that gradients are made of, read off them.

dV = Pᵀ dO is linear in dO: with columns of the identity for dO it is Pᵀ itself. dQ = dS K / √D and dK =
dSᵀ Q / √D give dS where D is no less than N.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.scales import by_widths
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, gradients, logsumexp, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["SAME", "Made", "close", "read_off"]

#: How far what is read off may be from what it is taken for, as a share of the largest.
SAME = 1e-6
#: Problems that are read, the largest N, and calls of one.
_MOST, _LONGEST, _CALLS = 3, 66, 16


@dataclass(frozen=True, slots=True)
class Made:
    """What a gradient is made of.

    Attributes:
        problem: What was differentiated.
        made: P, or dS / √D, as the gradient has it (B, H, N, N).
        right: As it should be, hidden pairs 0.
        whole: The same with hidden pairs not hidden.
        given: The gradient itself (B, H, N, D).
        wanted: As it should be.
    """

    problem: Problem
    made: Array
    right: Array
    whole: Array
    given: Array
    wanted: Array


def read_off(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> list[Made]:
    """What a gradient is made of, of a few problems of sizes that were seen wrong, and wrong again.

    Args:
        bench: Where it is judged.
        attention: What is called.
        ledger: All calls.
        name: ``dQ``, ``dK`` or ``dV``.
    """
    read: list[Made] = []
    try:
        for at, problem in enumerate(_suited(ledger, name)):
            made = _read(attention, _anew(bench, problem, at, wide=name != "dV"), name)
            if made is not None and not close(made.made, made.right):
                read.append(made)
            if len(read) == _MOST:
                break
    except Fault:
        return []
    return read


def close(made: Array, wanted: Array) -> bool:
    """Whether all numbers are others', but for rounding."""
    return bool(np.abs(made - wanted).max() <= SAME * max(np.abs(wanted).max(), 1e-300))


def _suited(ledger: Ledger, name: str) -> list[Problem]:
    """Wrong plain problems, of several tiles first, causal and not, of different rests."""
    wrong = [figure.problem for figure in ledger.figures[name] if figure.verdict is Verdict.FAIL]
    plain = [one for one in wrong if one.case.plain] or [one for one in wrong if one.case.of_source]
    small = [one for one in plain if one.double and 3 <= one.case.q.shape[2] <= _LONGEST]
    kinds: dict[tuple[bool, bool, int], Problem] = {}
    for one in by_widths(small, lambda one: one.case.q.shape[3], _cost):
        length = one.case.q.shape[2]
        kinds.setdefault((one.case.causal, one.tile < length, length % one.tile), one)
    return list(kinds.values())


def _cost(one: Problem) -> tuple[bool, int]:
    return not 2 <= one.tile < one.case.q.shape[2] // 2, one.case.q.size


def _anew(bench: Bench, problem: Problem, at: int, *, wide: bool) -> Problem:
    """A draw of the same sizes; wide enough that dS can be told, if it must be."""
    batch, heads, length, width = problem.case.q.shape
    shape = (batch, heads, length, max(width, length + 2) if wide else width)
    return posed(bench.rng("pairs", at), shape, problem.case.tile, problem.case.causal, back=problem.tile)


def _read(attention: Attention, problem: Problem, name: str) -> Made | None:
    case = problem.case
    length, width = case.q.shape[2:]
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(width)
    seen = np.tri(length, dtype=bool) if case.causal else np.ones((length, length), dtype=bool)
    whole = np.exp(scores - logsumexp(case)[..., None])
    weights = np.where(seen, whole, 0.0)
    if name != "dV":
        d_p = problem.d_out @ case.v.swapaxes(-1, -2)
        taken = (d_p - (weights * d_p).sum(-1, keepdims=True)) / np.sqrt(width)
        given = attention(problem)[name]
        made = (
            given @ np.linalg.pinv(case.k)
            if name == "dQ"
            else (given @ np.linalg.pinv(case.q)).swapaxes(-1, -2)
        )
        return Made(problem, made, weights * taken, whole * taken, given, gradients(problem)[name])
    if -(-length // width) > _CALLS:
        return None
    made = np.zeros_like(weights)
    for start in range(0, length, width):
        rows = np.arange(start, min(start + width, length))
        d_out = np.zeros(case.q.shape)
        d_out[:, :, rows, rows - start] = 1.0
        given = attention(replace(problem, d_out=d_out))["dV"]
        made[:, :, rows] = given[..., : len(rows)].swapaxes(-1, -2)
    given = attention(problem)[name]
    return Made(problem, made, weights, whole, given, gradients(problem)[name])
