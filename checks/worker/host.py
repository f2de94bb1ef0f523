"""Arrays in NumPy's own memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from . import namespace
from .counters import Counters
from .trace import Trace

__all__ = ["HostArrays"]


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
