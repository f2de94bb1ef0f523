"""In which columns a gradient is wrong, where it is right in the others."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.index_sets import places_told
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, gradients, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["wrong_columns"]

#: How many widths are looked at, and the most scores of a problem.
_MOST, _SCORES = 4, 100_000
_SAME = 1e-5


def wrong_columns(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> str:
    """The columns that alone are wrong, as a clause; empty where all are, or where they have no rule.

    Args:
        bench: Where it is judged.
        attention: What is called.
        ledger: All calls.
        name: ``dQ``, ``dK`` or ``dV``.
    """
    widths: dict[int, Problem] = {}
    for figure in ledger.figures[name]:
        batch, heads, length, width = figure.problem.case.q.shape
        small = batch * heads * length**2 <= _SCORES and width > 1
        if figure.verdict is Verdict.FAIL and figure.problem.case.plain and small and figure.problem.double:
            widths.setdefault(width, figure.problem)
    sets, zero = [], True
    for at, problem in enumerate(list(widths.values())[:_MOST]):
        case = problem.case
        anew = posed(bench.rng("columns", at), case.q.shape, case.tile, case.causal, back=problem.tile)
        try:
            made = attention(anew)[name]
        except Fault:
            return ""
        truth = gradients(anew)[name]
        off = ~(np.abs(made - truth) <= _SAME * np.abs(truth).max(axis=-1, keepdims=True))
        columns = off.any(axis=(0, 1, 2))
        if not columns.any():
            continue
        if columns.all():
            return ""
        sets.append(columns)
        zero = zero and not made[..., columns].any()
    told = places_told(sets, "columns", [one.value for one in bench.integers])
    return f"{name} is {'0' if zero else 'wrong'} in {told} alone" if told else ""
