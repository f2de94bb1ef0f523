"""Calling what takes one (N, D) at a time for every leading index of a batch, and stacking what it gives."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from . import arrays
from .describe import children

__all__ = ["for_each"]


def for_each(
    function: Callable[..., Any],
    places: Sequence[int],
    keys: Sequence[str],
    leading: Sequence[int],
    count: int = 0,
    *,
    method: str | None = None,
) -> Callable[..., Any]:
    """A callable that takes whole arrays, or nested lists, and hands on one leading index after another.

    Args:
        function: Called once per index; where an earlier such call gave it, that of the index.
        places: Positions of the arguments that have the leading axes, or that an earlier such call gave.
        keys: Keywords of such arguments.
        leading: Sizes of the leading axes; empty: those of the first array among these arguments.
        count: How many leading axes there are, where their sizes are not given.
        method: Of ``function``, called in its place.

    Returns:
        Arrays come back with the leading axes in front; tuples, lists, dicts and objects of arrays
        part by part, objects as dicts that remember what they were; what has no parts, as a function, once
        for each index.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        sizes = tuple(leading) or _sizes([*(args[place] for place in places), *map(kwargs.get, keys)], count)
        stack = _Stack(sizes)
        for index in itertools.product(*map(range, sizes)):
            one = [_at(value, index) if place in places else value for place, value in enumerate(args)]
            named = {key: _at(value, index) if key in keys else value for key, value in kwargs.items()}
            own = _at(function, index)
            stack.add(index, (getattr(own, method) if method else own)(*one, **named))
        return stack.whole()

    return call


class Stacked(dict[str, Any]):
    """Objects of one kind, attribute by attribute, with the first of them to make others by."""

    first: Any = None

    def at(self, index: tuple[int, ...]) -> Any:
        """The object of one index."""
        parts = {key: _at(part, index) for key, part in self.items()}
        if hasattr(self.first, "_fields"):
            return self.first._replace(**parts)
        made = copy.copy(self.first)
        for key, part in parts.items():
            object.__setattr__(made, key, part)
        return made


class Apart:
    """What was given for each index where nothing is known of its parts.

    Attributes:
        held: One for each index, the last axis first to run.
    """

    def __init__(self, leading: tuple[int, ...], held: list[Any]) -> None:
        self.held = held
        self._leading = leading

    def at(self, index: tuple[int, ...]) -> Any:
        """The one of one index."""
        return self.held[int(np.ravel_multi_index(index, self._leading))]


class Functions(Apart):
    """The same of functions: it shows the first one's signature, and is called through :func:`for_each`."""

    def __init__(self, leading: tuple[int, ...], held: list[Any]) -> None:
        super().__init__(leading, held)
        functools.update_wrapper(self, held[0], updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Not without an index."""
        raise TypeError("one function for each index of a batch, and no index")


def _sizes(values: Sequence[Any], count: int) -> tuple[int, ...]:
    return next((v.shape[:count] for v in values if arrays.is_array(v) and v.ndim > count), ())


def _at(value: Any, index: tuple[int, ...]) -> Any:
    """What belongs to one leading index: of an array or nested lists an item, of anything else its parts'."""
    if arrays.is_array(value):
        return value[index] if value.ndim >= len(index) else value
    if isinstance(value, (Stacked, Apart)):
        return value.at(index)
    if isinstance(value, (dict, MappingProxyType)):
        return type(value)({key: _at(part, index) for key, part in value.items()})
    if isinstance(value, list) and _is_numbers(value):
        for position in index:
            value = value[position]
        return value
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(_at(part, index) for part in value)
    return value


class _Stack:
    """Results of one shape, gathered without holding more than the whole."""

    def __init__(self, leading: tuple[int, ...]) -> None:
        self._leading = leading
        self._first: Any = None
        self._started = False
        self._array: Any = None
        self._rows: list[Any] = []
        self._plain: list[Any] = []
        self._parts: dict[Any, _Stack] = {}

    def add(self, index: tuple[int, ...], value: Any) -> None:
        """Put one result in its place."""
        if not self._started:
            self._first, self._started = value, True
        if arrays.is_array(value) or isinstance(value, np.generic):
            if self._array is None:
                self._array = arrays.used().empty((*self._leading, *value.shape), value)
            self._array[index] = value
        elif _is_numbers(value):
            self._rows.append(value)
        elif parts := _parts(value):
            for key, part in parts:
                self._parts.setdefault(key, _Stack(self._leading)).add(index, part)
        else:
            self._plain.append(value)

    def whole(self) -> Any:
        """All of them."""
        if self._array is not None:
            return self._array
        if self._rows:
            return _nested(iter(self._rows), self._leading)
        if not self._parts:
            if all(value is self._first for value in self._plain):
                return self._first
            return (Functions if callable(self._first) else Apart)(self._leading, self._plain)
        made = {key: part.whole() for key, part in self._parts.items()}
        if isinstance(self._first, (tuple, list)) and not hasattr(self._first, "_fields"):
            return type(self._first)(made.values())
        if isinstance(self._first, dict):
            return made
        if isinstance(self._first, MappingProxyType):
            return MappingProxyType(made)
        whole = Stacked(made)
        whole.first = self._first
        return whole


def _parts(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, (dict, MappingProxyType)):
        return list(value.items())
    if hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, (tuple, list)):
        return list(enumerate(value))
    return [(key, part) for step, key, part in children(value) if step == "a"]


def _is_numbers(value: Any) -> bool:
    """Whether it is a number, or lists of numbers all the way down."""
    if isinstance(value, list):
        return all(_is_numbers(item) for item in value)
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _nested(rows: Any, leading: tuple[int, ...]) -> Any:
    if not leading:
        return next(rows)
    return [_nested(rows, leading[1:]) for _ in range(leading[0])]
