"""Where a submission's arrays live: in NumPy's memory, or on a device; asked by all that handles them.

One process has one such place, chosen before a submission is loaded (:func:`use`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from . import namespace
from .counters import Counters
from .trace import Trace

__all__ = ["Arrays", "HostArrays", "hosted", "is_array", "moved", "use", "used"]


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


class HostArrays:
    """NumPy's own memory."""

    kinds: tuple[type, ...] = (np.ndarray,)

    def namespace(self, counters: Counters) -> ModuleType:
        """The counting namespace."""
        return namespace.build(counters)

    def tracked(self, value: Any, counters: Counters) -> Any:
        """A counted view."""
        return namespace.tracked(value, counters)

    def moved(self, value: Any) -> Any:
        """As it is."""
        return value

    def hosted(self, value: Any) -> Any:
        """As it is."""
        return value

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        """An uninitialised array; a counted one stays one."""
        made = np.empty(shape, like.dtype)
        # A counted array stays one.
        return made.view(type(like)) if isinstance(like, np.ndarray) else made

    def filled(self, like: Any, value: Any) -> Any:
        """By NumPy."""
        return np.full_like(like, value)

    def share_memory(self, one: Any, other: Any) -> bool:
        """Taken as shared where that is too hard to tell."""
        if not np.may_share_memory(one, other):
            return False
        try:
            return bool(np.shares_memory(one, other, max_work=10_000))  # type: ignore[arg-type]
        except np.exceptions.TooHardError:
            return True

    def trace(self) -> Any:
        """Python's own allocations, NumPy's among them."""
        return Trace()

    @contextlib.contextmanager
    def clocked(self, told: dict[str, Any]) -> Iterator[None]:
        """Nothing is ever under way."""
        yield

    def release(self) -> None:
        """Nothing to do."""

    def lost(self) -> str:
        """Never."""
        return ""


_used: Arrays = HostArrays()


def use(name: str) -> Arrays:
    """Choose where arrays live.

    Args:
        name: ``numpy``, or a module with CuPy's interface.

    Raises:
        ImportError: It cannot be imported.
        RuntimeError: It cannot compute.
    """
    global _used
    if name == "numpy":
        _used = HostArrays()
    else:
        from .device import DeviceArrays

        _used = DeviceArrays(name)
    return _used


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
