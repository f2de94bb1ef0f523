"""What a call answers, taken while it is timed, traced and counted: nothing is put off to when it is fetched.

An answer may be a property, or an object that computes its array when it is asked for one. What it gives
within the call is what is fetched afterwards, until something else is asked of the submission.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from . import arrays, describe
from .values import array_of

__all__ = ["Answers"]

#: Requests that only look: after them an answer is still what it was.
_LOOKS = frozenset({"describe", "fetch", "footprint", "leaves", "put", "value"})
_Key = tuple[int, tuple[tuple[Any, ...], ...]]


class Answers:
    """Answers of the last call, by the number of the object that they are parts of, and their paths."""

    def __init__(self) -> None:
        self._taken: dict[_Key, Any] = {}

    def before(self, op: str) -> None:
        """Forget them where a request may change what they are."""
        if op not in _LOOKS:
            self._taken.clear()

    def take(self, kept: Mapping[int, Any], wanted: Iterable[Mapping[str, Any]]) -> None:
        """Take parts of kept objects; what cannot be taken is told when it is fetched.

        Args:
            kept: Objects by number.
            wanted: Number and path of each, as in :mod:`.wire`.
        """
        for each in wanted:
            with contextlib.suppress(Exception):
                path = each.get("path", [])
                self._taken[_key(each["$h"], path)] = _made(describe.locate(kept[each["$h"]], path))

    def at(self, number: int, path: describe.Path, otherwise: Callable[[], Any]) -> Any:
        """A part of a kept object: as it was taken, else as it is."""
        key = _key(number, path) if self._taken else None
        return self._taken[key] if key in self._taken else otherwise()


def _key(number: int, path: describe.Path) -> _Key:
    return number, tuple(tuple(step) for step in path)


def _made(value: Any) -> Any:
    """The value, or the array that it gives when it is asked for one."""
    inner = describe.innermost(value)
    plain = arrays.is_array(inner) or isinstance(inner, np.generic) or not hasattr(type(inner), "__array__")
    return value if plain else array_of(value)
