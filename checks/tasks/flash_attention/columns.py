"""In which columns of O an answer is wrong, where it is right in the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.index_sets import places_told
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.rows import Held
from judge_tui.checks.verdict import Verdict

__all__ = ["wrong_columns"]

#: How many widths are looked at, and the most scores of a case.
_MOST, _SCORES = 5, 200_000
_SAME = 1e-5


def wrong_columns(forward: Forward, held: Sequence[Held]) -> str:
    """The columns of O that alone are wrong, as a clause; empty where all are, or where they have no rule.

    Args:
        forward: What is called.
        held: All cases.
    """
    widths: dict[int, Case] = {}
    for each in held:
        case = each.case
        small = case.q.shape[0] * case.q.shape[1] * case.q.shape[2] ** 2 <= _SCORES
        if each.verdict is Verdict.FAIL and case.plain and small and case.q.dtype == np.float64:
            widths.setdefault(case.q.shape[3], case)
    sets, zero = [], True
    for at, case in enumerate(list(widths.values())[:_MOST]):
        anew = drawn(forward.bench.rng("columns", at), case.q.shape, case.tile, case.causal)
        try:
            out = forward(anew)
        except Fault:
            return ""
        off = np.abs(out - anew.truth) > _SAME * np.abs(anew.truth).max(axis=-1, keepdims=True)
        columns = off.any(axis=(0, 1, 2))
        if not columns.any():
            continue
        if columns.all():
            return ""
        sets.append(columns)
        zero = zero and not out[..., columns].any()
    told = places_told(sets, "columns", [one.value for one in forward.bench.integers])
    return f"O is {'0' if zero else 'wrong'} in {told} alone" if told else ""
