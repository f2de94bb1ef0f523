"""When two answers of one role are the same: bit for bit, but for rounding, or added up on an instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tolerance import relative_error, same_bits

__all__ = ["close", "same", "summed"]

#: Two processes may round differently (another instruction set, another alignment); an answer of another
#: input is off by far more.
_ACROSS_PROCESSES = 1e-5


def summed(binding: Binding, first: Mapping[str, Any], again: Mapping[str, Any]) -> list[str]:
    """Answers left on the instance that the second call added to, as gradients of parameters often are."""
    return [
        name
        for name, value in first.items()
        if binding.returns[name].of == "self"
        and isinstance(value, np.ndarray)
        and same_bits(again[name], value + value)
        and not same_bits(again[name], value)
    ]


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether every answer of ``one`` is the same in ``other``: arrays bit for bit."""
    return all(
        same_bits(value, other[name]) if isinstance(value, np.ndarray) else repr(value) == repr(other[name])
        for name, value in one.items()
    )


def close(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """The same, but for the rounding that may differ between processes."""
    return all(
        same_bits(value, other[name])
        or relative_error(value, other[name], axis=tuple(range(value.ndim))) <= _ACROSS_PROCESSES
        if isinstance(value, np.ndarray)
        else repr(value) == repr(other[name])
        for name, value in one.items()
    )
