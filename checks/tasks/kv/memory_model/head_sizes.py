"""Whether a calculator that is told a head's width goes by it, in a model whose width is another product."""

from __future__ import annotations

from dataclasses import replace
from math import isclose

from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.tasks.kv.memory_model.calculators import Calculator, explained, numbers
from judge_tui.checks.tasks.kv.memory_model.geometry import Geometry

__all__ = ["ignores_its_head_size"]


def ignores_its_head_size(
    worker: Worker, calculator: Calculator, point: Geometry, answer: float, left: float
) -> str:
    """What is wrong, as a clause; empty where nothing is, or it refuses such a model.

    Args:
        worker: Where the submission is.
        calculator: It, right where the width of the model is that of its heads together.
        point: Sizes of such a model.
        answer: What it gives for them.
        left: Seconds that are left.
    """
    if not calculator.told >= {"embed", "head_dim"} or not calculator.told & {"heads", "kv_heads"}:
        return ""
    wide = replace(point, width=2 * point.embed)
    value, said = explained(worker, calculator, wide, left)
    if said:
        return ""
    given = dict(numbers(value)).get(calculator.key, answer)
    if isclose(given, answer, rel_tol=1e-6):
        return ""
    return (
        f"gives {given:.8g} in place of {answer:.8g} for heads of {point.head_dim} in a model {wide.embed} "
        "wide: the head size that it is told is not what counts"
    )
