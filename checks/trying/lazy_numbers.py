"""Answers that cost no thought, held against the reference's as a submission's are; no submission is run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.challenges.lazy import Lazy, lazy_answers
from judge_tui.checks.challenges.numbers.accuracy import asked, named_cases
from judge_tui.checks.challenges.numbers.comparing import compared
from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.challenges.numbers.parts import paired, parts
from judge_tui.checks.challenges.numbers.truths import Case, Truths
from judge_tui.checks.challenges.numbers.values import cast, has_floats
from judge_tui.checks.trying.trial import SEEDS, Doing, Tried

__all__ = ["Tolerance", "lazy_numbers"]

_DOUBLE = "float64"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A looser rule: right is what is within ``absolute + relative * |reference|``, entry by entry."""

    absolute: float
    relative: float


@dataclass(slots=True)
class _Fate:
    """What came of a lazy answer over all cases.

    Attributes:
        killed: What killed it first, and how far off it was.
        margin: The widest margin, as a multiple of the limit.
        same: Whether it was the right answer in every case so far.
    """

    killed: str = ""
    margin: float = 0.0
    same: bool = True

    def tried(self, name: str, cases: int) -> Tried:
        """The same as what came of a trial."""
        if self.same and not self.killed:
            return Tried("lazy", name, True, "is the right answer in every case", same=True)
        if not self.killed:
            return Tried("lazy", name, False, f"passes all {cases} cases")
        wide = 0 < self.margin < math.inf
        widest = f", the widest margin {self.margin:.2g} times the limit" if wide else ""
        return Tried("lazy", name, True, self.killed + widest)


@dataclass(frozen=True, slots=True)
class _Point:
    """A case in one dtype, with the right answer and what may be off.

    Attributes:
        label: The case and the dtype, in words.
        dtype: Of the inputs.
        inputs: Name → value.
        right: The reference's answer in float64.
        limits: Part of the answer → its limit; empty where the author's own check decides.
    """

    label: str
    dtype: str
    inputs: Mapping[str, Any]
    right: Any
    limits: Mapping[str, float]


def lazy_numbers(truths: Truths, tolerance: Tolerance | None, doing: Doing) -> Iterator[Tried]:
    """Lazy answers, held against the reference's as a submission's are; no submission is run."""
    if "reference" not in truths.numbers.functions:
        return
    points: list[_Point] = []
    for seed in SEEDS:
        for point in _points(truths, seed):
            doing("the right answers", point.label)
            points.append(point)
    first = points[0].right
    for lazy in lazy_answers(first):
        fate = _Fate()
        for point in points:
            doing(lazy.name, point.label)
            if not (lazy.wide and np.dtype(point.dtype).itemsize < 4):
                _hold(truths, lazy, point, first, tolerance, fate)
        yield fate.tried(lazy.name, len(points))


def _points(truths: Truths, seed: int) -> Iterator[_Point]:
    """Every case in every dtype that it is handed over in."""
    for case in truths.cases(np.random.default_rng(seed)):
        for dtype in truths.numbers.dtypes if has_floats(dict(case.inputs)) else (_DOUBLE,):
            yield _point(truths, case, dtype)
    if "edge_cases" in truths.numbers.functions:
        for case in named_cases(truths, np.random.default_rng(seed)):
            yield _point(truths, case, _DOUBLE)


def _point(truths: Truths, case: Case, dtype: str) -> _Point:
    inputs = cast(dict(case.inputs), dtype)
    own = "check" in truths.numbers.functions
    limits = {} if own else truths.limits(inputs, dtype, np.random.default_rng(0))
    return _Point(f"{case.label}, {dtype}", dtype, inputs, truths.answer(cast(inputs, _DOUBLE)), limits)


def _hold(
    truths: Truths, lazy: Lazy, point: _Point, first: Any, tolerance: Tolerance | None, fate: _Fate
) -> None:
    """Hold a lazy answer against the reference's in one case."""
    with np.errstate(all="ignore"):
        answer = lazy.answer(point.right, point.inputs, first)
        off = compared(answer, point.right)
        if not off.wrong and off.error == 0:
            return
        fate.same = False
        wrong, margin = _verdict(truths, answer, point, tolerance)
    fate.margin = max(fate.margin, margin)
    if wrong and not fate.killed:
        fate.killed = f"{point.label}: {wrong}"


def _verdict(truths: Truths, answer: Any, point: _Point, tolerance: Tolerance | None) -> tuple[str, float]:
    """Why an answer is not taken, empty where it is; and its error as a multiple of the limit."""
    if tolerance is not None:
        return ("" if _within(answer, point.right, tolerance) else "beyond the tolerance that was given"), 0.0
    if not point.limits:
        return asked(truths.authors.here(), answer, point.inputs), 0.0
    try:
        pairs = paired(_outputs(answer, truths.numbers), point.right, truths.numbers)
    except (ValueError, TypeError, StopIteration):
        return "another number of results", 0.0
    margin = 0.0
    for name, (mine, part) in pairs.items():
        found = compared(mine, part)
        if found.wrong:
            return found.told, 0.0
        limit = point.limits[name]
        margin = max(margin, math.inf if math.isnan(found.error) else found.error / (limit or 1e-300))
        if not found.error <= limit:
            return f"{found.error:.2g} off, at most {limit:.2g}", margin
    return "", margin


def _outputs(answer: Any, numbers: Numbers) -> dict[str, Any]:
    """An answer as it is taken of a submission: what is plain data as a whole."""
    return {numbers.outputs[0].name: answer} if numbers.plain else parts(answer, numbers)


def _within(answer: Any, right: Any, tolerance: Tolerance) -> bool:
    """Whether an answer passes under a looser rule."""
    if isinstance(right, (tuple, list)):
        alike = isinstance(answer, (tuple, list)) and len(answer) == len(right)
        return alike and all(_within(one, other, tolerance) for one, other in zip(answer, right, strict=True))
    try:
        mine, truth = np.asarray(answer, np.float64), np.asarray(right, np.float64)
    except (TypeError, ValueError):
        return not compared(answer, right).wrong
    return mine.shape == truth.shape and bool(
        np.allclose(mine, truth, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True)
    )
