"""Arrays on a device, by CuPy or what has its interface: moved in and out, waited for, timed, traced."""

from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from . import device_namespace
from .bfloat16 import is_numeric
from .counters import Counters, active
from .device_counts import counted_type

__all__ = ["DeviceArrays"]

_MOST_DEPTH = 6


class DeviceArrays:
    """A device's memory.

    Args:
        name: The module with CuPy's interface.

    Raises:
        ImportError: It cannot be imported.
        RuntimeError: It cannot compute.
    """

    def __init__(self, name: str) -> None:
        self._package: Any = importlib.import_module(name)
        self.ndarray: Any = self._package.ndarray
        self.kinds: tuple[type, ...] = (np.ndarray, self.ndarray)
        self._counted = counted_type(self._package)
        # The first array makes the context, which takes long and must not fall into a call.
        self._package.zeros(1).sum()
        self.synchronize()

    def namespace(self, counters: Counters) -> ModuleType:
        """The module that stands for NumPy inside a submission."""
        return device_namespace.build(self._package, self)

    def tracked(self, value: Any, counters: Counters) -> Any:
        """An array whose operators are counted too; other values as they are."""
        return self._counted.of(value) if type(value) is self.ndarray else value

    # traffic of the namespace

    def holds(self, value: Any, depth: int = _MOST_DEPTH) -> bool:
        """Whether an array of the device is among the values."""
        if isinstance(value, self.ndarray):
            return True
        if depth and isinstance(value, dict):
            return any(self.holds(item, depth - 1) for item in value.values())
        # A long list is of one kind: what begins it tells.
        return bool(
            depth and isinstance(value, (list, tuple)) and any(self.holds(v, depth - 1) for v in value[:64])
        )

    def entered(self, value: Any, depth: int = _MOST_DEPTH) -> Any:
        """Arguments as the device's functions take them: NumPy's arrays moved, counted ones plain."""
        if isinstance(value, np.ndarray):
            return self.moved(value)
        if isinstance(value, self.ndarray):
            return self._counted.plain(value)
        if depth and type(value) in (list, tuple):
            return type(value)(self.entered(item, depth - 1) for item in value)
        if depth and type(value) is dict:
            return {key: self.entered(item, depth - 1) for key, item in value.items()}
        return value

    def left(self, name: str, operands: Any, result: Any, kwargs: dict[str, Any]) -> Any:
        """A result on its way to the submission: noted, and counted from here on, while counting."""
        counters = active()
        if counters is None:
            return result
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if isinstance(first, self.ndarray):
            counters.operation(name, operands, first, kwargs.get("where", True))
        return self._counted.spread(result)

    # in and out

    def moved(self, value: Any) -> Any:
        """NumPy's arrays of numbers brought to the device, those in tuples and lists too."""
        if isinstance(value, np.ndarray):
            return self._package.asarray(value) if is_numeric(value.dtype) else value
        if type(value) in (tuple, list) and any(isinstance(item, np.ndarray) for item in value):
            return type(value)(self.moved(item) for item in value)
        return value

    def hosted(self, value: Any, depth: int = _MOST_DEPTH) -> Any:
        """A value with the device's arrays in it as NumPy's; waits for what computes them."""
        if isinstance(value, self.ndarray):
            return value.get()
        if depth and type(value) in (list, tuple) and self.holds(value, depth):
            return type(value)(self.hosted(item, depth - 1) for item in value)
        if depth and type(value) is dict and self.holds(value, depth):
            return {key: self.hosted(item, depth - 1) for key, item in value.items()}
        return value

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        """An uninitialised array of the dtype and kind of another."""
        if not isinstance(like, self.ndarray):
            return np.empty(shape, like.dtype)
        made = self._package.empty(shape, like.dtype)
        return self._counted.of(made) if self._counted.is_one(like) else made

    def filled(self, like: Any, value: Any) -> Any:
        """An array like another, filled with a value."""
        on_device = isinstance(like, self.ndarray)
        return (self._package if on_device else np).full(like.shape, value, like.dtype)

    def share_memory(self, one: Any, other: Any) -> bool:
        """Whether two arrays may look at the same memory; one here and one there never do."""
        if not (isinstance(one, self.ndarray) and isinstance(other, self.ndarray)):
            both = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
            return both and bool(np.may_share_memory(one, other))
        return bool(self._package.may_share_memory(one, other))

    # the device itself

    def synchronize(self) -> None:
        """Wait for everything that was asked of the device, on every stream."""
        self._package.cuda.Device().synchronize()

    @contextlib.contextmanager
    def clocked(self, told: dict[str, Any]) -> Iterator[None]:
        """A span that begins and ends with nothing under way; its seconds by events go to ``told``."""
        cuda = self._package.cuda
        self.synchronize()
        start, stop = cuda.Event(), cuda.Event()
        start.record()
        try:
            yield
        finally:
            stop.record()
            self.synchronize()
            told["device_seconds"] = cuda.get_elapsed_time(start, stop) / 1e3

    def trace(self) -> Any:
        """What traces the memory pool."""
        return PoolTrace(self._package)

    def release(self) -> None:
        """Give the pool's unused memory back to the device."""
        gc.collect()
        self._package.get_default_memory_pool().free_all_blocks()

    def lost(self) -> str:
        """Why the device computes nothing any more in this process; empty while it does.

        An illegal address or a launch failure spoils the context for good: whatever is asked next fails.
        """
        try:
            self.synchronize()
        except RuntimeError as error:
            return f"{type(error).__name__}: {error}"
        return ""


class PoolTrace:
    """Traced allocations of one call, by the hook of the memory pool.

    Args:
        package: CuPy, or a module with its interface.

    Attributes:
        held: Bytes beyond those at the start that were still held at the last stop.
    """

    def __init__(self, package: Any) -> None:
        self.held = 0
        self._now = self._highest = 0
        trace = self

        class Hook(package.cuda.MemoryHook):  # type: ignore[misc]
            name = "judge"

            def malloc_postprocess(self, **kwargs: Any) -> None:
                trace._now += kwargs["mem_size"]
                trace._highest = max(trace._highest, trace._now)

            def free_postprocess(self, **kwargs: Any) -> None:
                trace._now -= kwargs["mem_size"]

        self._hook = Hook()

    def start(self) -> None:
        """Begin: what is allocated from here on counts."""
        gc.collect()
        self._now = self._highest = 0
        self._hook.__enter__()

    def stop(self) -> int:
        """The highest number of bytes beyond those at the start."""
        self._hook.__exit__(None, None, None)
        self.held = self._now
        return self._highest
