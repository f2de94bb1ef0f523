"""Whether answers are wrong where two axes are of one size alone, as where one is looked for by its size."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward

__all__ = ["equal_axes"]

#: (B, T, D) of which two are equal, in words, and one without.
_EQUAL = {"T = D": (3, 6, 6), "B = D": (6, 3, 6), "B = T": (5, 5, 7)}
_DIFFERENT = (3, 5, 7)
_SAME = 1e-6


def equal_axes(bench: Bench, name: str) -> str:
    """Which two axes are equal where an answer is wrong, as a clause; empty where it is wrong anyhow.

    Args:
        bench: Where it is judged.
        name: ``y``, ``dx``, ``dgamma`` or ``dbeta``.
    """
    try:
        if _wrong(bench, _DIFFERENT, name):
            return ""
        wrong = [words for words, shape in _EQUAL.items() if _wrong(bench, shape, name)]
    except Fault:
        return ""
    return f"wrong where {' or '.join(wrong)}, and right where no two axes are equal" if wrong else ""


def _wrong(bench: Bench, shape: tuple[int, int, int], name: str) -> bool:
    batch = draw(bench.rng("equal axes", *shape), shape, eps_of(bench, 1e-5))
    run = forward(bench, batch)
    if name == "y":
        made, right = run.y, reference.forward(batch)
    else:
        made, right = (
            np.asarray(getattr(of, name)) for of in (backward(bench, run), reference.gradients(batch))
        )
    with np.errstate(all="ignore"):
        return not bool(np.abs(made - right).max() <= _SAME * np.abs(right).max())
