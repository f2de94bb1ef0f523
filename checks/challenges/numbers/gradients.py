"""The check ``gradients``: held against differences of the reference, and the author's own formula."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.challenges.numbers.answering import called
from judge_tui.checks.challenges.numbers.comparing import compared
from judge_tui.checks.challenges.numbers.contract import BACKWARD, SOLUTION, defaults
from judge_tui.checks.challenges.numbers.parts import parts
from judge_tui.checks.challenges.numbers.truths import Truths
from judge_tui.checks.challenges.numbers.values import handed
from judge_tui.checks.check import Check, Findings, check
from judge_tui.checks.gradients import Independence, differences, projection, signs
from judge_tui.checks.tolerance import SLACK

__all__ = ["gradients"]

#: Entries up to which each is moved alone; of more, all are moved at once along random signs.
_FEW = 64
_DIRECTIONS = 2
#: Cases that are judged by, the smallest ones.
_CASES = 3
#: How far sound code may be from an analytic gradient, and from differences whose own error is nothing.
_ANALYTIC, _FLOOR = 1e-6, 1e-9
#: Differences that disagree with themselves by more than this say nothing.
_VAGUE = 1e-3


@dataclass(frozen=True, slots=True)
class _At:
    """A point at which gradients are taken: inputs, and what is weighed by."""

    label: str
    inputs: Mapping[str, Any]
    dout: npt.NDArray[np.float64]


def gradients(truths: Truths, seconds: float) -> Check:
    """The check ``gradients``.

    Args:
        truths: The author's inputs and answers.
        seconds: What one call may take.
    """
    names = truths.numbers.gradients

    @check(
        "gradients",
        f"gradients by {', '.join(names)}",
        establishes="The gradients are the reference's, by its differences and the challenge's formula.",
        roles=(SOLUTION, BACKWARD),
        budget=300.0,
    )
    def body(bench: Bench, found: Findings) -> str:
        where = bench.binding(BACKWARD)
        at: dict[str, Any] = {"file": where.file, "line": where.line or None}
        ratio = 0.0
        for point in _points(truths, bench.rng("points")):
            bench.progress(point.label, None)
            answer = _answered(bench, truths, point, seconds)
            analytic = _formula(truths, point)
            for name in names:
                mine = answer.array(f"d{name}", np.shape(point.inputs[name]))
                told, rng = f"d{name}, {point.label}", bench.rng("signs", name, point.label)
                held = [*_by_formula(mine, analytic.get(name)), *_differenced(truths, point, name, mine, rng)]
                for quantity, error, limit in held:
                    found.limit(f"{told}: {quantity}", error, limit, **at)
                    ratio = max(ratio, error / limit)
        if wrong := found.wrong:
            off, most = (float(str(figure)) for figure in (wrong.measured, wrong.limit))
            return f"{wrong.quantity}: {off:.2g} off, at most {most:.2g}"
        return f"gradients by {', '.join(names)}: errors are at most {ratio:.2g} of their limits"

    return body


def _points(truths: Truths, rng: np.random.Generator) -> Iterator[_At]:
    """The smallest cases, with random weights of the first result."""

    def size(case: Mapping[str, Any]) -> float:
        return math.prod(float(v) for v in case.values() if isinstance(v, int) and not isinstance(v, bool))

    for case in sorted(truths.numbers.sizes, key=size)[:_CASES]:
        inputs = truths.inputs(case, int(rng.integers(2**62)))
        first = next(iter(parts(truths.answer(inputs), truths.numbers).values()))
        label = ", ".join(f"{key}={value}" for key, value in case.items())
        yield _At(label or "the only case", inputs, rng.standard_normal(np.shape(first)))


def _by_formula(
    mine: npt.NDArray[Any], analytic: npt.NDArray[Any] | None
) -> Iterator[tuple[str, float, float]]:
    """A gradient held against the author's formula, where there is one."""
    if analytic is not None:
        yield "against the challenge's formula", compared(mine, analytic).error, _ANALYTIC


def _answered(bench: Bench, truths: Truths, point: _At, seconds: float) -> Returned:
    """Call the solution, then its backward on what that kept."""
    returned = called(bench, truths.numbers, point.inputs, seconds=seconds)
    given: dict[str, Any] = {**defaults(truths.numbers), **handed(point.inputs), "dout": point.dout}
    if returned.has("cache"):
        given["cache"] = returned.handle("cache")
    return bench.call(BACKWARD, given, budget=seconds)


def _formula(truths: Truths, point: _At) -> dict[str, npt.NDArray[Any]]:
    """Name → gradient by the author's ``gradients``, where there is one; held against differences first.

    Raises:
        ChallengeFault: It gives something else than the gradients, or is not the reference's.
    """
    if "gradients" not in truths.numbers.functions:
        return {}
    author, names = truths.authors.here(), truths.numbers.gradients
    told = author.call("gradients", [point.dout], point.inputs)
    each = (
        told
        if isinstance(told, dict)
        else dict(zip(names, told if isinstance(told, tuple) else (told,), strict=False))
    )
    found: dict[str, npt.NDArray[Any]] = {}
    for name in names:
        value = each.get(name, each.get(f"d{name}"))
        if value is None or np.shape(value) != np.shape(point.inputs[name]):
            raise author.fault(f"gradients gives no array like {name} for it ({point.label})")
        found[name] = np.asarray(value, np.float64)
        rng = np.random.default_rng(0)
        for _, error, limit in _differenced(truths, point, name, found[name], rng):
            if not error <= limit:
                raise author.fault(
                    f"gradients is {error:.2g} off the reference's differences by {name} ({point.label})"
                )
    return found


def _differenced(
    truths: Truths, point: _At, name: str, mine: npt.NDArray[Any], rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """A gradient held against differences of the reference: what, how far off, and the limit for that."""
    fixed = dict(point.inputs)

    def forward(at: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        answer = truths.answer({**fixed, **at})
        return np.asarray(next(iter(parts(answer, truths.numbers).values())), np.float64)

    centre = np.asarray(point.inputs[name], np.float64)
    scale = float(np.abs(centre).max(initial=0.0)) or 1.0
    at, blocks = {name: centre}, Independence(name)
    if centre.size <= _FEW:
        estimate = differences(forward, at, blocks, point.dout, scale=scale)
        size = float(np.linalg.norm(estimate.value))
        error = float(np.linalg.norm(mine - estimate.value)) / (size or 1.0)
        if estimate.disagreement < _VAGUE:
            yield "against differences", error, max(SLACK * estimate.disagreement + _FLOOR, _ANALYTIC)
        return
    for _ in range(_DIRECTIONS):
        direction = signs(rng, centre.shape)
        shadow = projection(forward, at, blocks, point.dout, direction, scale=scale)
        value = float(np.sum(mine * direction))
        size = max(abs(float(shadow.value)), float(np.linalg.norm(mine)))
        noise = abs(float(shadow.noise)) / (size or 1.0)
        if noise < _VAGUE:
            yield (
                "against differences along random signs",
                abs(value - float(shadow.value)) / (size or 1.0),
                max(SLACK * noise + _FLOOR, _ANALYTIC),
            )
