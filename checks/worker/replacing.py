"""Copies of a submission's objects, as they are or with one part changed."""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from .closed import reclosed
from .describe import Path, locate

__all__ = ["copied", "rebuilt", "replaced"]

# A read-only view of a dict cannot be copied by itself.
copyreg.pickle(MappingProxyType, lambda view: (MappingProxyType, (dict(view),)))


def copied(value: Any) -> Any:
    """A deep copy, or a shallow one where a deep one cannot be made."""
    try:
        return copy.deepcopy(value)
    except Exception:  # objects that hold locks, files or modules; tuples of a class that is made otherwise
        return rebuilt(value, value) if isinstance(value, tuple) else copy.copy(value)


def replaced(value: Any, path: Path, part: Any) -> Any:
    """A copy of ``value`` whose part at ``path`` is ``part``; nothing of the original changes.

    Raises:
        LookupError: There is no such part, or its container cannot be rebuilt.
    """
    return _put(copied(value), path, part)


def rebuilt(value: tuple[Any, ...], items: Iterable[Any]) -> tuple[Any, ...]:
    """A tuple of the same class with other items and the same attributes."""
    made = tuple.__new__(type(value), items)
    if hasattr(value, "__dict__"):
        vars(made).update(vars(value))
    return made


def _put(value: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    (kind, key), rest = path[0], path[1:]
    if kind == "c":
        # A copied function still shares its cells, so what they hold is copied here.
        return reclosed(value, key, _put(copied(locate(value, [[kind, key]])), rest, part))
    new = _put(locate(value, [[kind, key]]), rest, part)
    fields = getattr(value, "_fields", ())
    if isinstance(value, tuple) and (kind == "i" or key in fields):
        at = fields.index(key) if kind == "a" else key
        return rebuilt(value, (*value[:at], new, *value[at + 1 :]))
    if isinstance(value, MappingProxyType):
        return MappingProxyType({**value, key: new})
    if kind == "a":
        object.__setattr__(value, key, new)
    else:
        value[key] = new
    return value
