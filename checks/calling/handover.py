"""What goes over the wire: values for the worker, packed, and buffers that it writes its answers into.

Arrays travel in sealed memfds: the worker maps them and changes nothing. Answers come in
memfds of a size that the trusted side chose, filled with what no arithmetic makes.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bfloat16 import Bfloat16, bits
from judge_tui.checks.errors import EngineError
from judge_tui.checks.faults import BadResult
from judge_tui.checks.strides import Laid, in_memory
from judge_tui.checks.worker import wire

__all__ = [
    "Buffer",
    "Carried",
    "Context",
    "Handed",
    "Handle",
    "Nested",
    "NumpyType",
    "Packer",
    "Random",
    "Scripted",
    "Steps",
    "Target",
]

#: Bit pattern that outputs are filled with before a call; a NaN that no arithmetic makes.
_SENTINEL = b"\xad\xde\xfa\xce\xad\xde\xf8\x7f"
#: Bytes of an item from which on a chance hit on the filling is none.
_WIDE = 4
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

Steps = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Handle:
    """An object that the worker keeps, or a part of it.

    Attributes:
        id: The worker's number for it.
        path: Steps ``(kind, key)`` into it, as in :mod:`judge_tui.checks.worker.describe`.
    """

    id: int
    path: Steps = ()

    def part(self, *steps: tuple[str, Any]) -> Handle:
        """A part of what this handle stands for."""
        return Handle(self.id, self.path + steps)


@dataclass(frozen=True, slots=True)
class Target:
    """A callable of the submission: ``name`` in ``file``; an empty name is the module."""

    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Nested:
    """An array handed over as nested lists."""

    array: Any


@dataclass(frozen=True, slots=True)
class Context:
    """A new dict whose keys are attributes too: empty, for a callable to fill, or of ``items``."""

    items: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Carried:
    """Any value that crosses by value, as :mod:`judge_tui.checks.worker.border.codec` writes it."""

    data: bytes


@dataclass(frozen=True, slots=True)
class NumpyType:
    """A NumPy scalar type by name, such as ``float32``."""

    name: str


@dataclass(frozen=True, slots=True)
class Random:
    """A ``numpy.random.Generator`` of its own, seeded."""

    seed: int


@dataclass(frozen=True, slots=True)
class Scripted:
    """A scripted model, built in the worker from ``spec`` (see ``worker/models.py``)."""

    spec: Mapping[str, Any]


#: Sign on the wire, and what stands behind it.
_LONE = {Carried: ("$v", "data"), NumpyType: ("$d", "name"), Random: ("$g", "seed")}


class Packer:
    """Turns values into their wire form; arrays go into sealed memfds that close with it."""

    def __init__(self) -> None:
        self.fds: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        for fd in self.fds:
            os.close(fd)

    def __call__(self, value: Any) -> Any:
        """The wire form of a value, as :mod:`judge_tui.checks.worker.wire` lists it."""
        if isinstance(value, Handle):
            return {"$h": value.id, "path": [list(step) for step in value.path]}
        if isinstance(value, Target):
            return {"$f": {"file": value.file, "name": value.name}}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, Nested):
            return {"$l": self(value.array)}
        if isinstance(value, Context):
            return {"$c": {key: self(item) for key, item in value.items.items()}}
        if isinstance(value, (Carried, NumpyType, Random)):
            sign, content = _LONE[type(value)]
            return {sign: getattr(value, content)}
        if isinstance(value, Scripted):
            return {"$m": {key: self(item) for key, item in value.spec.items()}}
        if isinstance(value, tuple):
            return {"$t": [self(item) for item in value]}
        if isinstance(value, list):
            return [self(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self(item) for key, item in value.items()}
        return value.item() if isinstance(value, np.generic) else value

    def _array(self, array: npt.NDArray[Any]) -> dict[str, Any]:
        if len(self.fds) >= wire.MAX_FDS:
            raise EngineError(f"over {wire.MAX_FDS} arrays in one call")
        narrow = isinstance(array, Bfloat16)
        lies = in_memory(array) if isinstance(array, Laid) else None
        data = (
            bits(array) if isinstance(array, Bfloat16) else np.ascontiguousarray(lies.data if lies else array)
        )
        fd = os.memfd_create("in", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.fds.append(fd)
        _write_all(fd, data.tobytes())
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
        dtype = "bfloat16" if narrow else array.dtype.str
        told = {"$a": len(self.fds) - 1, "shape": list(data.shape), "dtype": dtype}
        if lies is not None:
            told |= {"axes": lies.axes, "flipped": lies.flipped, "stepped": lies.stepped}
        return told


class Handed:
    """Arrays that are to be kept by the worker, and wait for the request that they go along with.

    Attributes:
        pack: Holds their memfds.
        values: ``keep`` (the worker's number) and ``value`` (the wire form) of each.
        nbytes: How much there is to copy.
    """

    def __init__(self) -> None:
        self.pack = Packer()
        self.values: list[dict[str, Any]] = []
        self.nbytes = 0

    def add(self, keep: int, array: npt.NDArray[Any]) -> None:
        """Take an array as it is now."""
        self.values.append({"keep": keep, "value": self.pack(array)})
        self.nbytes += array.nbytes


class Buffer:
    """Memory that the worker writes one array into; its size, shape and dtype are ours.

    Args:
        shape: The array's shape.
        dtype: Its wire dtype.

    Attributes:
        fd: The memfd, which cannot shrink or grow; closed on exit.
    """

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        self.shape = tuple(int(n) for n in shape)
        self.dtype = dtype
        self._size = int(np.prod(self.shape, dtype=np.int64)) * dtype.itemsize
        self._fill = (_SENTINEL * (self._size // len(_SENTINEL) + 1))[: self._size]
        self.fd = os.memfd_create("out", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        _write_all(self.fd, self._fill)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self.fd)

    def array(self) -> npt.NDArray[Any]:
        """A private copy of what was written; the worker cannot change it any more.

        Raises:
            BadResult: Parts of it were never written.
        """
        data = _read_all(self.fd, self._size)
        if len(data) != self._size or _unwritten(data, self._fill, self.dtype):
            raise BadResult("left parts of its answer unwritten")
        if not data:
            return np.empty(self.shape, self.dtype)
        return np.frombuffer(data, dtype=self.dtype).reshape(self.shape).copy()


def _unwritten(data: bytes, fill: bytes, dtype: np.dtype[Any]) -> bool:
    """Whether an item still holds the filling, or (booleans) what no boolean holds."""
    if dtype.kind == "b":
        return any(byte > 1 for byte in set(data))
    if not data or (dtype.itemsize == len(_SENTINEL) and _SENTINEL not in data):
        return False
    if dtype.itemsize < _WIDE:
        # one in 256 bytes is the filling's by chance: only what no chance makes alike was left
        length = len(data) - len(data) % len(_SENTINEL)
        data, fill, dtype = data[:length], fill[:length], np.dtype((np.void, len(_SENTINEL)))
    item = np.dtype((np.void, dtype.itemsize))
    return bool(data) and bool(np.any(np.frombuffer(data, item) == np.frombuffer(fill, item)))


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _read_all(fd: int, size: int) -> bytes:
    parts, offset = [], 0
    while offset < size and (part := os.pread(fd, min(size - offset, 1 << 28), offset)):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)
