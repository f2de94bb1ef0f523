"""Calling what takes one (N, D) at a time for every leading index of a batch, and stacking what it gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["for_each"]


def for_each(
    function: Callable[..., Any], places: Sequence[int], keys: Sequence[str], leading: Sequence[int]
) -> Callable[..., Any]:
    """A callable that takes whole arrays, or nested lists, and hands on one leading index after another.

    Args:
        function: Called once per index.
        places: Positions of the arguments that have the leading axes.
        keys: Keywords of such arguments.
        leading: Sizes of the leading axes.

    Returns:
        Arrays come back with the leading axes in front; tuples, lists, dicts and objects of arrays
        part by part, objects as dicts; of anything else the first one.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        stack = _Stack(tuple(leading))
        for index in itertools.product(*map(range, leading)):
            one = [_at(value, index) if place in places else value for place, value in enumerate(args)]
            named = {key: _at(value, index) if key in keys else value for key, value in kwargs.items()}
            stack.add(index, function(*one, **named))
        return stack.whole()

    return call


def _at(value: Any, index: tuple[int, ...]) -> Any:
    for position in index:
        value = value[position]
    return value


class _Stack:
    """Results of one shape, gathered without holding more than the whole."""

    def __init__(self, leading: tuple[int, ...]) -> None:
        self._leading = leading
        self._first: Any = None
        self._started = False
        self._array: Any = None
        self._rows: list[Any] = []
        self._parts: dict[Any, _Stack] = {}

    def add(self, index: tuple[int, ...], value: Any) -> None:
        """Put one result in its place."""
        if not self._started:
            self._first, self._started = value, True
        if isinstance(value, (np.ndarray, np.generic)):
            if self._array is None:
                self._array = np.empty((*self._leading, *value.shape), value.dtype)
            self._array[index] = value
        elif _is_numbers(value):
            self._rows.append(value)
        else:
            for key, part in _parts(value):
                self._parts.setdefault(key, _Stack(self._leading)).add(index, part)

    def whole(self) -> Any:
        """All of them."""
        if self._array is not None:
            return self._array
        if self._rows:
            return _nested(iter(self._rows), self._leading)
        if not self._parts:
            return self._first
        made = {key: part.whole() for key, part in self._parts.items()}
        plain = isinstance(self._first, (tuple, list)) and not hasattr(self._first, "_fields")
        return type(self._first)(made.values()) if plain else made


def _parts(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    if hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, (tuple, list)):
        return list(enumerate(value))
    return list(getattr(value, "__dict__", {}).items())


def _is_numbers(value: Any) -> bool:
    """Whether it is a number, or lists of numbers all the way down."""
    if isinstance(value, list):
        return all(_is_numbers(item) for item in value)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _nested(rows: Any, leading: tuple[int, ...]) -> Any:
    if not leading:
        return next(rows)
    return [_nested(rows, leading[1:]) for _ in range(leading[0])]
