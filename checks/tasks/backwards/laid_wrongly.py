"""Arrays whose order in memory changes an answer: which, how they lie, and how they are read then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.strides import HOWS, laid, only_laid
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward, whole_lanes
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.tolerance import relative_error

__all__ = ["laid_wrongly"]

Array = npt.NDArray[Any]
_SHAPE = (3, 4, 6)
_SAME = 1e-6


def laid_wrongly(bench: Bench, *, of_y: bool = False) -> str:
    """Which order of memory alone gives other answers, as a clause; empty where none alone does.

    Args:
        bench: Where it is judged.
        of_y: Whether y is looked at.
    """
    for shape in dict.fromkeys((_SHAPE, *whole_lanes(bench))):
        told = _told(bench, draw(bench.rng("laid alone"), shape, eps_of(bench, 1e-3)), of_y)
        if told:
            return told if shape == _SHAPE else f"{told}; with D = {shape[2]}, and not with D = {_SHAPE[2]}"
    return ""


def _told(bench: Bench, plain: Batch, of_y: bool) -> str:
    """The same of one shape, its usual order of memory being ``plain``'s."""
    right, found = _right(plain, of_y), dict[str, list[str]]()
    in_order = nothing = True
    for name in ("x", "gamma", "beta") if of_y else ("x", "dy", "gamma"):
        for how in HOWS:
            other: dict[str, Any] = {name: laid(getattr(plain, name), how)}
            batch = replace(plain, **other)
            try:
                run = forward(bench, batch)
                made = (run.y,) if of_y else _listed(backward(bench, run))
            except Fault as fault:
                return f"where {name} does not lie row by row in memory ({how}): {fault.message}"
            if not _alike(made, right):
                found.setdefault(name, []).append(how)
                in_order = in_order and _alike(made, _right(_read_in_order(batch, name), of_y))
                nothing = nothing and not made[0].any()
    if not found:
        return ""
    told = only_laid(found)
    if nothing:
        return f"{told}: {'y' if of_y else 'dx'} is all zeros then, as where it is written into a copy"
    return f"{told}: its numbers are taken in their order in memory" if in_order else told


def _read_in_order(batch: Batch, name: str) -> Batch:
    array = getattr(batch, name)
    other: dict[str, Any] = {name: np.asarray(array).ravel(order="K").reshape(array.shape)}
    return replace(batch, **other)


def _right(batch: Batch, of_y: bool) -> tuple[Array, ...]:
    return (reference.forward(batch),) if of_y else _listed(reference.gradients(batch))


def _listed(made: reference.Gradients) -> tuple[Array, ...]:
    return made.dx, made.dgamma, made.dbeta


def _alike(made: tuple[Array, ...], wanted: tuple[Array, ...]) -> bool:
    return all(
        relative_error(one, other, axis=-1 if one.ndim > 1 else 0) <= _SAME
        for one, other in zip(made, wanted, strict=True)
    )
