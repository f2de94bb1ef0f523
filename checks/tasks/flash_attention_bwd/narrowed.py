"""Where gradients are wrong and where not: an order of memory alone, or a condition about sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.size_conditions import where_masked
from judge_tui.checks.strides import laid
from judge_tui.checks.tasks.flash_attention_bwd.extremes import why_extremes
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["COMPARED", "narrowed"]

#: How a problem is named whose arrays lie otherwise.
_LAID = "in memory"
#: Sizes of which one may have to be larger than the other.
COMPARED = (
    ("the number of tiles of the backward", "the number of tiles of the forward"),
    ("T of the backward", "T of the forward"),
    ("T of the backward", "N"),
    ("T of the forward", "N"),
    ("N", "D"),
)


def narrowed(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> str:
    """What the calls have in common on which a gradient is wrong, as a clause; empty for nothing.

    Args:
        bench: Where it is judged.
        attention: What is called.
        ledger: All calls.
        name: The gradient.
    """
    figures = ledger.figures[name]
    wrong = [figure for figure in figures if figure.verdict is Verdict.FAIL]
    if not wrong or len(wrong) == len(figures):
        return ""
    if all(figure.problem.case.name.startswith(_LAID) for figure in wrong):
        names = list(_laid_wrongly(bench, attention))
        return f"only where {' or '.join(names)} lies otherwise in memory than row by row" if names else ""
    if not any(figure.problem.case.plain for figure in wrong):
        return why_extremes(bench, attention, name)
    return where_masked(
        (
            (figure.problem.case.causal, figure.problem.sizes, figure.verdict is not Verdict.FAIL)
            for figure in figures
            if figure.problem.case.q.shape[2] > 1
        ),
        compared=COMPARED,
    )


def _laid_wrongly(bench: Bench, attention: Attention) -> Iterable[str]:
    """Arrays whose order in memory changes the gradients, each tried alone."""
    plain = posed(bench.rng("laid alone"), (2, 3, 7, 5), 3, attention.causal[0], back=3)
    for name in ("Q", "K", "V", "dO"):
        problem = _with(plain, name)
        held = Ledger().hold(problem, attention(problem))
        if any(figure.verdict is Verdict.FAIL for figure in held):
            yield name


def _with(problem: Problem, name: str) -> Problem:
    if name == "dO":
        return replace(problem, d_out=laid(problem.d_out, "transposed"))
    other: dict[str, Any] = {name.lower(): laid(getattr(problem.case, name.lower()), "transposed")}
    return replace(problem, case=replace(problem.case, **other))
