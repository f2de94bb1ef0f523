"""Whether rows of a wrong gradient are those of other rows: read at another stride than they were written."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import gradients, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["displaced"]

#: The most rows of a problem, and leading numbers by which a row is told.
_ROWS, _LEAD = 200, 6
_SAME = 1e-6


def displaced(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> str:
    """Which row stands where, as a clause; empty where rows are no others'.

    Args:
        bench: Where it is judged.
        attention: What is called.
        ledger: All calls.
        name: ``dQ``, ``dK`` or ``dV``.
    """
    wrong = [f.problem for f in ledger.figures[name] if f.verdict is Verdict.FAIL and f.problem.case.plain]
    suited = [p for p in wrong if p.double and p.case.q.shape[3] > 1 and 3 < p.case.q[..., 0].size <= _ROWS]
    for problem in sorted(suited, key=lambda p: -p.case.q.shape[2])[:1]:
        case = problem.case
        anew = posed(bench.rng("displaced"), case.q.shape, case.tile, case.causal, back=problem.tile)
        try:
            made = attention(anew)[name]
        except Fault:
            return ""
        with np.errstate(all="ignore"):
            return _told(made, gradients(anew)[name], name)
    return ""


def _told(made: Array, truth: Array, name: str) -> str:
    heads = made.shape[1]
    length, lead = made.shape[2], min(_LEAD, made.shape[3])
    given, wanted = (a.reshape(-1, made.shape[-1])[:, :lead] for a in (made, truth))
    size = np.abs(wanted).max()
    near = np.abs(given[:, None] - wanted).max(axis=-1) <= _SAME * size
    nothing = np.abs(made).reshape(len(given), -1).max(axis=-1) <= _SAME * size
    # a row of 0 that should be 0 tells nothing
    some = np.abs(wanted).max(axis=-1) > _SAME * size
    if not (near.any(axis=1) | nothing).all() or near.diagonal().all():
        return ""
    first = next((int(at) for at in np.flatnonzero(some & ~near.diagonal() & ~nothing)), None)
    if first is None:
        return ""
    other = int(np.argmax(near[first]))
    if not some[other]:
        return ""
    lost = int((nothing & some).sum())
    zero = f", and {lost} of {len(given)} rows are 0" if lost else ""
    rule = _rule(near, nothing, length)
    what = f"rows of {name} are those of other rows, read at another stride or offset than they were written"
    return f"{what}: {rule or f'{_row(first, heads, length)} is that of {_row(other, heads, length)}'}{zero}"


def _rule(near: npt.NDArray[np.bool_], nothing: npt.NDArray[np.bool_], length: int) -> str:
    """Row i is row k · i of the whole, or of each head."""
    rows = np.arange(len(near))
    for times in (2, 3, 4):
        for within, whose in ((len(near), "of all rows of the batch"), (length, "of each head")):
            place, start = rows % within, rows // within * within
            to = np.minimum(start + times * place, len(near) - 1)
            inside = times * place < within
            if (near[rows, to] | nothing)[inside].all() and near[rows, to][inside].sum() > 2:
                return f"row i {whose} is row {times}i"
    return ""


def _row(at: int, heads: int, length: int) -> str:
    return f"row {at % length} of batch entry {at // length // heads}, head {at // length % heads}"
