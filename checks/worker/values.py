"""Values on their way out of the worker: as arrays, as plain data, poisoned, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import arrays, describe

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
]

_MAX_ITEMS = 200_000


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


def owner_of(array: Any) -> Any:
    """The array whose memory a view looks at."""
    while arrays.is_array(array.base):
        array = array.base
    return array


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
    if isinstance(value, (list, tuple)):
        return type(value)(poisoned(item) for item in value)
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

    Raises:
        BadValueError: It has too many items.
    """
    return _plain(value, [_MAX_ITEMS])


def _plain(value: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise BadValueError(f"an answer of over {_MAX_ITEMS} items")
    if arrays.is_array(value):
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
        return {str(key): _plain(item, left) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)) and not hasattr(value, "_fields"):
        return [_plain(item, left) for item in value]
    parts = [(key, item) for _kind, key, item in describe.children(value)] + describe.properties(value)
    if parts:
        return {str(key): _plain(item, left) for key, item in parts if not callable(item)}
    return str(type(value).__name__)
