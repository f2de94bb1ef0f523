"""Arrays whose order in memory changes the gradients: which, how they lie, and how they are read then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.strides import HOWS, laid, only_laid
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.tolerance import relative_error

__all__ = ["laid_wrongly"]

_SHAPE = (3, 4, 6)
_SAME = 1e-6


def laid_wrongly(bench: Bench) -> str:
    """Which order of memory alone gives other gradients, as a clause; empty where none alone does."""
    plain = draw(bench.rng("laid alone"), _SHAPE, eps_of(bench, 1e-3))
    found: dict[str, list[str]] = {}
    in_order = True
    for name in ("x", "dy"):
        for how in HOWS:
            other: dict[str, Any] = {name: laid(getattr(plain, name), how)}
            batch = replace(plain, **other)
            try:
                dx = backward(bench, forward(bench, batch)).dx
            except Fault as fault:
                return f"where {name} does not lie row by row in memory ({how}): {fault.message}"
            if not relative_error(dx, reference.gradients(plain).dx) <= _SAME:
                found.setdefault(name, []).append(how)
                in_order = in_order and _read_in_order(dx, batch, name)
    if not found:
        return ""
    told = only_laid(found)
    return f"{told}: its numbers are taken in their order in memory" if in_order else told


def _read_in_order(dx: Any, batch: Batch, name: str) -> bool:
    array = getattr(batch, name)
    other: dict[str, Any] = {name: np.asarray(array).ravel(order="K").reshape(array.shape)}
    return bool(relative_error(dx, reference.gradients(replace(batch, **other)).dx) <= _SAME)
