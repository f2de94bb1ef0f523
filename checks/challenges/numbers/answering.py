"""Calling a submission's solution, and taking its answer apart into what the challenge names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.challenges.numbers.contract import SOLUTION, defaults
from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.challenges.numbers.values import handed
from judge_tui.checks.worker.border.codec import Record

__all__ = ["called", "taken", "whole"]

#: Bytes of arrays that an answer may hold beyond four times the reference's.
_ROOM = 16 << 20


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
    return bench.call(SOLUTION, {**defaults(numbers), **handed(inputs)}, budget=seconds)


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
    most = 4 * _nbytes(like) + _ROOM
    found = {
        output.name: bench.worker.carried(returned.handle(output.name), most=most)
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
    form, _, name = numbers.form.partition(":")
    if form == "dict":
        return dict(parts)
    if form in ("nt", "dc"):
        return Record(form, name, dict(parts))
    return tuple(parts.values()) if form == "tuple" else next(iter(parts.values()))


def _nbytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Mapping):
        return sum(map(_nbytes, value.values()))
    return sum(map(_nbytes, value)) if isinstance(value, (list, tuple)) else 8
