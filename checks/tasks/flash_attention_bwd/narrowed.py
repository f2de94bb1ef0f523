"""Where gradients are wrong and where not: an order of memory alone, or a condition about sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.size_conditions import only_where
from judge_tui.checks.strides import laid
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["COMPARED", "narrowed", "shifted"]

#: Scores past the range of exp.
_LOW = -900.0

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
        return _far_below(bench, attention, name)
    return only_where(
        (
            (figure.problem.sizes, figure.verdict is not Verdict.FAIL)
            for figure in figures
            if figure.problem.case.q.shape[2] > 1
        ),
        compared=COMPARED,
        limits=True,
    )


def shifted(problem: Problem, by: float) -> Problem:
    """Shift every score of a row: softmax does not change, but an L without its maximum overflows.

    Entries are multiples of 1/8 and √D is 4, so that every score is exact in float32 too.
    """
    q, k = np.round(8 * problem.case.q) / 8, np.round(8 * problem.case.k) / 8
    q[..., 0], k[..., 0] = 16.0, by / 4
    return replace(problem, case=replace(problem.case, q=q, k=k))


def _far_below(bench: Bench, attention: Attention, name: str) -> str:
    """With which masks and which lengths a gradient is wrong where scores are far below 0."""
    wrong: list[tuple[bool, bool]] = []
    tried = [(causal, rest) for causal in attention.causal for rest in (False, True)]
    for causal, rest in tried:
        shape = (1, 2, 18 if rest else 16, 16)
        problem = posed(bench.rng("far below", causal, rest), shape, 4, causal, back=4, name="far below")
        held = Ledger().hold(shifted(problem, _LOW), attention(shifted(problem, _LOW)))
        if any(figure.name == name and figure.verdict is Verdict.FAIL for figure in held):
            wrong.append((causal, rest))
    if not wrong or len(wrong) == len(tried):
        return ""
    masks, rests = ({way[place] for way in wrong} for place in (0, 1))
    told = ["with scores far below 0"]
    told += (
        []
        if len(masks) > 1 or len(attention.causal) < 2
        else ["with the mask" if True in masks else "without the mask"]
    )
    told += (
        []
        if len(rests) > 1
        else ["where N is no multiple of T" if True in rests else "where N is a multiple of T"]
    )
    why = (
        ": places past the last key, whose score of 0 is far above these, are not hidden"
        if rests == {True}
        else ""
    )
    return f"wrong {' and '.join(told)} alone{why}"


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
