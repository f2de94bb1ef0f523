"""Inputs as they are drawn, cast, moved and handed over: any nest of values that holds arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.challenges.author import crossing
from judge_tui.checks.worker.border.codec import Record

__all__ = ["cast", "handed", "has_floats", "mapped", "moved"]


def mapped(value: Any, change: Callable[[npt.NDArray[Any]], Any]) -> Any:
    """A value whose floating-point arrays are changed, wherever they stand in it."""
    if isinstance(value, np.ndarray):
        return change(value) if value.dtype.kind in "fc" else value
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(item, change) for item in value)
    if isinstance(value, Record):
        return Record(value.kind, value.name, {k: mapped(v, change) for k, v in value.fields.items()})
    return value


def cast(value: Any, dtype: str) -> Any:
    """Floating-point arrays in a dtype; complex ones in the one of the same precision."""

    def change(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array.astype(np.result_type(dtype, np.complex64) if array.dtype.kind == "c" else dtype)

    return mapped(value, change)


def moved(value: Any, rng: np.random.Generator, dtype: str, units: float = 1.0) -> Any:
    """Every entry moved by units in its last place of a dtype, up or down."""
    unit = units * float(np.finfo(np.dtype(dtype)).eps)

    def change(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array * (1.0 + unit * rng.choice([-1.0, 1.0], array.shape))

    return mapped(value, change)


def has_floats(value: Any) -> bool:
    """Whether a floating-point array stands anywhere in a value."""
    found: list[bool] = []

    def seen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found.append(True)
        return array

    mapped(value, seen)
    return bool(found)


def handed(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as a worker takes them."""
    return {name: crossing(value) for name, value in inputs.items()}
