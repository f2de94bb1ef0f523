"""Whether gradients are right but for a lower precision, by one mild call and one on small integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.precision import Formula, Lowered, Rounding, lowered, same
from judge_tui.checks.rounded_attention import scores_in_steps
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.lowered import hidden, integers, mild
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import (
    NAMES,
    Gradients,
    Problem,
    gradients,
)
from judge_tui.checks.verdict import Verdict

__all__ = ["lower_precision", "of_lower_precision", "of_statistic"]

_OPERANDS = (
    ("Q", "K", "V", "dO in PᵀdO and dOVᵀ"),
    ("Q", "K", "V", "dO"),
    ("Q of both passes", "K of both passes", "V of both passes"),
    ("Q of both passes", "K of both passes", "V of both passes", "dO"),
)
_SCORES = "QKᵀ/√D of both passes"


def of_lower_precision(attention: Attention, *ledgers: Ledger) -> Lowered | None:
    """What is told of gradients that are not right, where a lower precision is all that is wrong with them.

    Args:
        attention: What was called.
        ledgers: The calls.
    """
    figures = [figure for ledger in ledgers for name in NAMES for figure in ledger.figures[name]]
    wrong = {figure.name for figure in figures if figure.verdict is not Verdict.PASS}
    figures = [figure for figure in figures if figure.name in wrong]
    off = [figure.error for figure in figures if figure.verdict is not Verdict.PASS]
    found = lower_precision(attention) if off else None
    return found if found is not None and found.explains(off, len(figures)) else None


def lower_precision(attention: Attention) -> Lowered | None:
    """What a deviation of the gradients is, where it is that of a lower precision.

    Args:
        attention: What is called, where it was seen wrong.
    """
    bench, causal = attention.bench, attention.causal[-1]
    rng = bench.rng("lower precision")
    case = mild(rng, causal)
    problem = Problem(case, rng.standard_normal(case.q.shape), case.tile)
    try:
        return lowered(
            attention(problem), _in_steps(problem), exact=_exact(attention, causal), together=_OPERANDS
        )
    except Fault:
        return None


def of_statistic(case: Case, value: Array) -> Lowered | None:
    """What the deviation of L (B, H, N) is, where it is the rounding of steps on the way to it.

    Args:
        case: What it is of; every row of it sees a key.
        value: As it was kept.
    """

    def formula(by: Rounding) -> dict[str, Array]:
        scores = scores_in_steps(by, by("Q", case.q), by("K", case.k), hidden(case))
        top = by("m", scores.max(axis=-1))
        weights = by("P", np.exp(by("S − m", scores - top[..., None])))
        return {"L": by("L", top + by("log l", np.log(by("l", weights.sum(axis=-1)))))}

    return lowered({"L": value}, formula, together=(("Q", "K"),))


def _in_steps(problem: Problem) -> Formula:
    case, masked = problem.case, hidden(problem.case)
    scale = case.q.shape[-1] ** -0.5

    def formula(by: Rounding) -> Gradients:
        given = {name: by(f"{name} of both passes", getattr(case, name.lower())) for name in "QKV"}
        seen = np.where(masked, -np.inf, given["Q"] @ given["K"].swapaxes(-1, -2) * scale)
        out, kept = _forward(by(_SCORES, seen), given["V"])
        q, k, v = (by(name, value) for name, value in given.items())
        d_o = by("dO", problem.d_out)
        scores = by(_SCORES, scores_in_steps(by, q, k, masked))
        p = by("P", np.exp(by("S − L", scores - by("L", kept))))
        row = by("rowsum(dO ∘ O)", (d_o * by("O", out)).sum(-1, keepdims=True))
        tiles = by("dO in PᵀdO and dOVᵀ", d_o)
        d_p = by("dP", tiles @ v.swapaxes(-1, -2))
        d_s = by("dS", p * by("dP − rowsum", d_p - row))
        scaled = by("dS/√D", d_s * scale) / scale
        sums = {"dQ": scaled @ k, "dK": scaled.swapaxes(-1, -2) @ q}
        sums = {name: by(name, by(f"√D·{name}", value) * scale) for name, value in sums.items()}
        return {**sums, "dV": by("dV", p.swapaxes(-1, -2) @ tiles)}

    return formula


def _forward(scores: Array, v: Array) -> tuple[Array, Array]:
    """O and L (…, N, 1) of scores: what a backward that rounds nothing else is handed."""
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=-1, keepdims=True)
    return weights @ v / total, top + np.log(total)


def _exact(attention: Attention, causal: bool) -> Callable[[float], bool]:
    def exact(share: float) -> bool:
        for ties in (2, 1):
            rng = attention.bench.rng("integers", ties)
            case = integers(rng, causal, ties)
            problem = Problem(case, rng.integers(-2, 3, case.q.shape).astype(np.float64), case.tile)
            truth = gradients(problem)
            if same(_seen(attention(problem)), _seen(truth), share):
                return True
        return False

    return exact


def _seen(found: Gradients) -> Gradients:
    """With the rounding of zeros beside whole numbers taken off."""
    return {name: np.where(np.abs(value) < 1e-30, 0.0, value) for name, value in found.items()}
