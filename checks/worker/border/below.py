"""Objects of classes below a built-in container, with methods of their own: they stay where they are.

Their stand-ins are of the built-in class to ``isinstance``, and where no class of the submission's says what
equals them, they are compared by what they hold, here and on data.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from .standins import Meta, home_of

__all__ = ["KEPT", "below", "contents", "shaped"]

__tracebackhide__ = True
#: Containers, and what makes a plain one without asking the class below it anything.
_PLAIN: Mapping[type, Callable[[Any], Any]] = {
    list: lambda value: list(list.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
    set: lambda value: set(set.__iter__(value)),
    deque: lambda value: deque(deque.__iter__(value)),
    bytearray: lambda value: bytearray(memoryview(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}
KEPT = tuple(_PLAIN)
_BY_NAME = {kind.__name__: kind for kind in KEPT}
_FIXED = frozenset({tuple, frozenset})


def below(kind: type) -> tuple[str, bool] | None:
    """The container that a class is below, and whether that or the standard library says what equals it.

    Args:
        kind: The class.
    """
    base = next((base for base in KEPT if issubclass(kind, base)), None)
    if base is None or kind.__module__ in sys.stdlib_module_names:
        return None
    says = next(klass for klass in kind.__mro__ if "__eq__" in vars(klass))
    return base.__name__, says.__module__ in sys.stdlib_module_names


def contents(value: Any) -> Any:
    """What a container holds, as the built-in class below it.

    Raises:
        TypeError: It is none.
    """
    for base, plain in _PLAIN.items():
        if isinstance(value, base):
            return plain(value)
    raise TypeError(f"'{type(value).__name__}' object is no container")


def shaped(name: str, told: Any) -> dict[str, Any]:
    """What a class that stands for one below a container has beside other stand-ins.

    Args:
        name: The class's.
        told: What :func:`below` says of it.

    Raises:
        KeyError: No container has that name.
    """
    if told is None:
        return {}
    base = _BY_NAME[told[0]]
    shade = type(name, (base,), {})
    space: dict[str, Any] = {"__class__": property(lambda self: shade)}
    if told[1]:
        space |= {"__eq__": _equal, "__ne__": _unequal, "__hash__": _hash if base in _FIXED else None}
    return space


def _held(value: Any) -> Any:
    """What a stand-in for a container holds over there; whatever else is itself."""
    over_there = type(type(value)) is Meta and isinstance(value, KEPT)
    return home_of(value).peer.ask("contents", value) if over_there else value


def _equal(self: Any, other: Any) -> Any:
    return _held(self) == _held(other)


def _unequal(self: Any, other: Any) -> Any:
    return not _equal(self, other)


def _hash(self: Any) -> int:
    return hash(_held(self))
