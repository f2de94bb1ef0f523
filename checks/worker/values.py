"""Values on their way out of the worker: as arrays, as plain data, poisoned, or refused."""

from __future__ import annotations

import contextlib
import copy
import math
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import arrays, describe, wire
from .replacing import rebuilt

__all__ = [
    "BadValueError",
    "array_of",
    "owner_of",
    "plain",
    "poisoned",
    "refill",
    "shape_text",
    "share_memory",
    "tight",
    "writable",
]

_MAX_ITEMS = 200_000
_TOO_MANY = f"an answer of over {_MAX_ITEMS} items"
#: Most items of one attribute that stands beside items, of all of them, and how deep such ones stand in each
#: other; what is over is left out, since it may be a model or the whole search as well as a score.
_MAX_BESIDE = 4096
_ALL_BESIDE = 100_000
_DEEP = 3


class BadValueError(Exception):
    """The answer is not what the contract asks for."""


def array_of(value: Any) -> Any:
    """The value as an array.

    Raises:
        BadValueError: It is none.
    """
    try:
        return np.asarray(arrays.hosted(value))
    except ValueError as error:
        raise BadValueError(f"a {type(value).__name__} that is no array ({error})") from error


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as Python writes it."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def tight(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its axes of length one."""
    return tuple(n for n in shape if n != 1)


def alike(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether shapes differ by axes of length one alone, or by being flat."""
    return tight(given) == tight(wanted) or given == (math.prod(wanted),)


def owner_of(array: Any) -> Any:
    """The array whose memory a view looks at; one with strides of its own has a stand-in between them."""
    while (base := _below(array)) is not None:
        array = base
    return array


def _below(array: Any) -> Any:
    between = (array.base, getattr(array.base, "base", None))
    return next((base for base in between if arrays.is_array(base)), None)


@contextlib.contextmanager
def writable(array: Any) -> Iterator[None]:
    """A span in which an array may be written to that its owner has made read-only.

    Raises:
        BadValueError: Its memory cannot be written to.
    """
    owner = owner_of(array)
    locked = [each for each in (owner, array) if not getattr(each.flags, "writeable", True)]
    try:
        for each in locked:
            each.flags.writeable = True
    except ValueError as error:
        raise BadValueError("an array that cannot be written to") from error
    try:
        yield
    finally:
        for each in locked:
            each.flags.writeable = False


def share_memory(one: Any, other: Any) -> bool:
    """Whether two arrays look at the same memory; taken as shared where that is too hard to tell."""
    return arrays.is_array(one) and arrays.is_array(other) and arrays.used().share_memory(one, other)


def poisoned(value: Any) -> Any:
    """The same kind of value with every number replaced by NaN, or by a huge integer."""
    if arrays.is_array(value):
        if value.dtype.kind in "fc":
            return arrays.used().filled(value, np.nan)
        huge = np.iinfo(value.dtype).max // 2 if value.dtype.kind in "iu" else 1
        return arrays.used().filled(value, huge)
    if isinstance(value, list):
        other = copy.copy(value)
        other[:] = [poisoned(item) for item in value]
        return other
    if isinstance(value, tuple):
        return rebuilt(value, map(poisoned, value))
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float, np.generic)):
        return type(value)(0) + np.nan if isinstance(value, np.floating) else float("nan")
    return None


def refill(old: list[Any], new: list[Any]) -> None:
    """Give a list other items; lists within it stay the objects that they are."""
    for index, (mine, item) in enumerate(zip(old, new, strict=False)):
        if isinstance(mine, list) and isinstance(item, list):
            refill(mine, item)
        else:
            old[index] = item
    old[len(new) :] = new[len(old) :]


def plain(value: Any) -> Any:
    """Numbers, texts, lists and dicts that stand for a value.

    Lists, tuples, dicts and arrays of a class of the submission's come with their attributes and properties.

    Raises:
        BadValueError: It has too many items.
    """
    return _plain(value, [_MAX_ITEMS, _ALL_BESIDE], 0)


def _plain(value: Any, left: list[int], deep: int) -> Any:
    """As :func:`plain`; ``left`` holds how many items may come, and how many of them as attributes."""
    left[0] -= 1
    if left[0] < 0:
        raise BadValueError(_TOO_MANY)
    items = _items(value, left, deep)
    if not isinstance(items, (list, dict)) or deep > _DEEP:
        return items
    beside = _beside(value, left, deep)
    return wire.with_attributes(items, beside) if beside else items


def _items(value: Any, left: list[int], deep: int) -> Any:
    if arrays.is_array(value):
        if value.size > left[0]:
            raise BadValueError(_TOO_MANY)
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else float(value)
    if isinstance(value, str):
        return value[:4096]
    if isinstance(value, dict):
        return {str(key): _plain(item, left, deep) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, deque)) and not hasattr(value, "_fields"):
        return [_plain(item, left, deep) for item in value]
    parts = [(key, item) for _kind, key, item in describe.children(value)] + describe.properties(value)
    if parts:
        return {str(key): _plain(item, left, deep) for key, item in parts if not callable(item)}
    return str(type(value).__name__)


def _beside(value: Any, left: list[int], deep: int) -> dict[str, Any]:
    """Attributes and properties beside the items; those of a tuple with named fields are items already."""
    if not describe.own_class(value) or hasattr(value, "_fields"):
        return {}
    found: dict[str, Any] = {}
    for name, part in (*describe.attributes_beside(value), *describe.properties(value)):
        if part is None or isinstance(part, (bool, int, float, str, np.generic)):
            found[name] = _items(part, left, deep)
            continue
        if callable(part):
            continue
        room = [min(_MAX_BESIDE, left[1]), left[1]]
        try:
            found[name] = _plain(part, room, deep + 1)
        except (BadValueError, RecursionError):
            continue
        finally:
            left[1] -= min(_MAX_BESIDE, left[1]) - max(room[0], 0)
    return found
