"""Whether a row's answer is its own, however many rows come with it."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.beside import parts_of
from judge_tui.checks.tasks.ternary_training.draws import exact_inputs, mixed
from judge_tui.checks.tasks.ternary_training.layer import Layer
from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["ROWS", "hold_rows"]

ROWS = "answers to several rows at once"
#: Rows at once, most of them no multiple of anything; and a number that is one of every unit.
_TOGETHER, _WHOLE = (1, 3, 5, 6, 7, 35, 67), 128
#: Inputs that are rounded to a few bits are rounded alike, as each row has the same largest entry.
_LIMIT = 0.25


def hold_rows(bench: Bench, found: Findings, layer: Layer, out: int) -> str:
    """Hold answers to several rows against those to the same rows among 128.

    Args:
        bench: Where it is called.
        found: What is found.
        layer: The layer.
        out: How many outputs leave it no ragged group.

    Returns:
        Which rows are wrong, as a clause; empty where none are.
    """
    weight = mixed(bench.rng("rows"), (out, GROUP))
    x = exact_inputs(bench.rng("rows of inputs"), _WHOLE, GROUP)
    told: list[tuple[str, ...]] = []
    try:
        whole = layer.forward(weight, x).y
        size = max(float(np.abs(whole).max()), 1e-300)
        for count in _TOGETHER:
            y = layer.forward(weight, x[:count]).y
            if not np.abs(y - whole[:count]).max() <= _LIMIT * size:
                told.append(parts_of(y, whole[:count]))
    except Fault:
        return ""
    if not told:
        return ""
    known = [words for words in told if words]
    shared = [words for words in known[0] if all(words in other for other in known)] if known else []
    why = shared[0] if shared else "they differ from those to the same rows among others"
    found.claim(ROWS, False, measured=why, limit="those to the same rows among 128", **layer.place)
    return f"{ROWS}: {why}"
