"""In which columns, heads or sequences a gradient is wrong, where it is right in the others."""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.regions import regions_told
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, gradients, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["wrong_regions"]

#: How many shapes are looked at, and the most scores of a problem.
_MOST, _SCORES = 4, 100_000


def wrong_regions(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> str:
    """The part of a gradient that alone is wrong, as a clause; empty where all of it is, or without a rule.

    Args:
        bench: Where it is judged.
        attention: What is called.
        ledger: All calls.
        name: ``dQ``, ``dK`` or ``dV``.
    """
    shapes: dict[tuple[int, ...], Problem] = {}
    for figure in ledger.figures[name]:
        batch, heads, length, width = figure.problem.case.q.shape
        small = batch * heads * length**2 <= _SCORES
        if figure.verdict is Verdict.FAIL and figure.problem.case.usual and small and figure.problem.double:
            shapes.setdefault((batch, heads, width), figure.problem)
    made: list[tuple[Array, Array, int]] = []
    for at, problem in enumerate(list(shapes.values())[:_MOST]):
        case = problem.case
        anew = posed(bench.rng("columns", at), case.q.shape, case.tile, case.causal, back=problem.tile)
        try:
            made.append((attention(anew)[name], gradients(anew)[name], anew.tile))
        except Fault:
            return ""
    told = regions_told(made, [one.value for one in bench.integers])
    return f"{name} is {told}" if told else ""
