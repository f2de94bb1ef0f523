"""Where a submission's arrays live, in NumPy's memory or on a device; asked by all that handles them.

One process has one such place, chosen before a submission is loaded (:mod:`.places`).
"""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .counters import Counters

__all__ = ["Arrays", "hosted", "is_array", "moved", "use", "used"]


class Arrays(Protocol):
    """What is asked of a place where arrays live."""

    kinds: tuple[type, ...]

    def namespace(self, counters: Counters) -> ModuleType:
        """The module that stands for NumPy inside a submission."""

    def tracked(self, value: Any, counters: Counters) -> Any:
        """An array whose operators are counted too; other values as they are."""

    def moved(self, value: Any) -> Any:
        """An array of NumPy's, brought there; other values as they are."""

    def hosted(self, value: Any) -> Any:
        """An array that lives there, and those in tuples, lists and dicts, as NumPy's."""

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        """An uninitialised array of the dtype and kind of another."""

    def filled(self, like: Any, value: Any) -> Any:
        """An array like another, filled with a value."""

    def share_memory(self, one: Any, other: Any) -> bool:
        """Whether two arrays may look at the same memory."""

    def trace(self) -> Any:
        """What traces allocations; as :class:`.trace.Trace`."""

    def clocked(self, told: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
        """A span of time whose ends wait for all that was asked before; adds the device's own seconds."""

    def release(self) -> None:
        """Give memory back that nothing uses."""

    def lost(self) -> str:
        """Why nothing can be computed there any more; empty while it can."""


_used: Arrays


def use(place: Arrays) -> None:
    """From now on arrays live there."""
    global _used  # noqa: PLW0603 - a worker is a process with one place
    _used = place


def used() -> Arrays:
    """Where arrays live."""
    return _used


def is_array(value: Any) -> bool:
    """Whether a value is an array, of NumPy's or where arrays live."""
    return isinstance(value, _used.kinds)


def hosted(value: Any) -> Any:
    """A value with the arrays in it as NumPy's."""
    return _used.hosted(value)


def moved(value: Any) -> Any:
    """An array of NumPy's, brought to where arrays live."""
    return _used.moved(value)
