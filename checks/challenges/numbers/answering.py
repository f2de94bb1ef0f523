"""Calling a submission's solution, and taking its answer apart into what the challenge names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.challenges.numbers.contract import SOLUTION
from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.challenges.numbers.values import handed
from judge_tui.checks.worker.border.codec import Record, decode

__all__ = ["called", "left_out", "taken", "whole"]

#: Bytes of arrays that an answer may hold beyond four times the reference's.
_ROOM = 16 << 20
#: Parts that an answer may have beyond four times the reference's, and at all: each takes a microsecond.
_PARTS, _MOST_PARTS = 200_000, 2_000_000


def called(bench: Bench, numbers: Numbers, inputs: Mapping[str, Any], *, seconds: float) -> Returned:
    """Call the solution on inputs.

    Args:
        bench: The submission's.
        numbers: What the challenge offers.
        inputs: Name → value.
        seconds: What the call may take.

    Raises:
        Fault: It is unbound, raised, hung or died.
    """
    given = {p.name: decode(p.default) for p in numbers.parameters if p.default}
    return bench.call(SOLUTION, {**given, **handed(inputs)}, budget=seconds)


def left_out(numbers: Numbers, inputs: Mapping[str, Any]) -> str:
    """A parameter that inputs do not hold and the reference has no default for; empty where there is none."""
    return next((p.name for p in numbers.parameters if not p.default and p.name not in inputs), "")


def taken(bench: Bench, returned: Returned, numbers: Numbers, like: Any = None) -> dict[str, Any]:
    """Name → part of the answer, by value.

    Args:
        bench: The submission's.
        returned: What the call gave.
        numbers: What the challenge offers.
        like: The reference's answer, which tells how large one may be.

    Raises:
        BadResult: A part is missing, is no value, or is much larger.
    """
    most, parts = 4 * _nbytes(like) + _ROOM, min(4 * _count(like) + _PARTS, _MOST_PARTS)
    found = {
        output.name: bench.worker.carried(returned.handle(output.name), most=most, parts=parts)
        for output in numbers.outputs
    }
    bench.worker.drop(returned.result.handle, *returned.given.values())
    return found


def whole(parts: Mapping[str, Any], numbers: Numbers) -> Any:
    """An answer as the reference would give it: alone, as a tuple, a dict or a record.

    Args:
        parts: Name → part.
        numbers: What the challenge offers.
    """
    if numbers.plain:
        return next(iter(parts.values()))
    arrays = {output.name for output in numbers.outputs if output.shape is not None}
    parts = {name: _array(part) if name in arrays else part for name, part in parts.items()}
    form, _, name = numbers.form.partition(":")
    if form == "dict":
        return dict(parts)
    if form in ("nt", "dc"):
        return Record(form, name, dict(parts))
    return tuple(parts.values()) if form == "tuple" else next(iter(parts.values()))


def _array(part: Any) -> Any:
    """An array of a list in rank and file; what is none is for the author to meet."""
    if not isinstance(part, (list, tuple)):
        return part
    try:
        made = np.asarray(part)
    except (ValueError, OverflowError):
        return part
    return made if made.dtype.kind in "fiubc" else part


def _count(value: Any) -> int:
    """Items of a value, in all that it holds."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, Mapping):
        value = list(value.values())
    return 1 + sum(map(_count, value)) if isinstance(value, (list, tuple, set, frozenset)) else 1


def _nbytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Mapping):
        return sum(map(_nbytes, value.values()))
    return sum(map(_nbytes, value)) if isinstance(value, (list, tuple)) else 8
