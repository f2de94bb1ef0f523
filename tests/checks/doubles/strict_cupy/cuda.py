"""The device that is none: events, hooks of the pool, and an error that stays."""

from __future__ import annotations

import threading
import time
from typing import Any

_hooks = threading.local()


class CUDARuntimeError(RuntimeError):
    """A CUDA call failed."""


class Sticky:
    """An error that spoils the context: whatever is asked afterwards fails with it."""

    said = ""

    @classmethod
    def check(cls) -> None:
        if cls.said:
            raise CUDARuntimeError(cls.said)


class Device:
    """The device."""

    def __init__(self, device: int = 0) -> None:
        self.id = device

    def synchronize(self) -> None:
        Sticky.check()


class Event:
    """A point in time."""

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        Sticky.check()


def get_elapsed_time(start: Event, stop: Event) -> float:
    """Milliseconds."""
    return (stop.at - start.at) * 1e3


class MemoryHook:
    """Told of what the pool hands out and takes back."""

    name = "MemoryHook"

    def __enter__(self) -> MemoryHook:
        active().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        active().remove(self)

    def malloc_postprocess(self, **kwargs: Any) -> None: ...

    def free_postprocess(self, **kwargs: Any) -> None: ...


def active() -> list[MemoryHook]:
    """The hooks of this thread."""
    if not hasattr(_hooks, "list"):
        _hooks.list = []
    return _hooks.list


def rounded(size: int) -> int:
    """The pool's unit is 512 bytes."""
    return -(-size // 512) * 512


class MemoryPool:
    """The pool."""

    def free_all_blocks(self) -> None: ...


POOL = MemoryPool()


class Held:
    """Memory of one array; told to the hooks when it comes and when it goes."""

    def __init__(self, size: int) -> None:
        self.size = rounded(size)
        for hook in active():
            hook.malloc_postprocess(device_id=0, size=size, mem_size=self.size, mem_ptr=0, pmem_id=0)

    def __del__(self) -> None:
        for hook in active():
            hook.free_postprocess(device_id=0, mem_size=self.size, mem_ptr=0, pmem_id=0)
