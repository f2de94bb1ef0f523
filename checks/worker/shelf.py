"""What a worker keeps by number for the engine, and what stands on the wire, made into values."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from . import arrays, describe
from .answers import Answers
from .bfloat16 import dtype_named
from .context import Context
from .load import Library
from .scripted import models, targets
from .strides import read_as

__all__ = ["Shelf"]


class Shelf:
    """Objects of one submission by number.

    Args:
        library: Modules of the submission, for what is named by file.

    Attributes:
        kept: Number → object.
        answers: What the last call answered.
        fds: Descriptors that came with the present request: one for each array, then those of its own.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.kept: dict[int, Any] = {}
        self.answers = Answers()
        self.fds: list[int] = []

    def keep(self, values: list[Any]) -> None:
        """Keep values under the numbers that they come with."""
        for value in values:
            self.kept[value["keep"]] = self.decoded(value["value"])

    def decoded(self, value: Any) -> Any:
        """What stands on the wire (:mod:`.wire`), as a value; kept objects are the objects themselves."""
        if isinstance(value, list):
            return [self.decoded(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$h" in value:
            number, path = value["$h"], value.get("path", [])
            return self.answers.at(number, path, lambda: describe.locate(self.kept[number], path))
        if "$a" in value:
            return self._array(value)
        if "$l" in value:
            array = self.decoded(value["$l"])
            return array.tolist() if arrays.is_array(array) else array
        if "$t" in value:
            return tuple(self.decoded(item) for item in value["$t"])
        if "$c" in value:
            return Context({key: self.decoded(item) for key, item in value["$c"].items()})
        return self._made(value)

    def _made(self, value: dict[str, Any]) -> Any:
        """What is made here of what stands on the wire."""
        if "$v" in value:
            return _carried(value["$v"])
        if "$d" in value:
            return getattr(np, value["$d"])
        if "$g" in value:
            return self.library.namespaces["numpy"].random.default_rng(value["$g"])
        if "$m" in value:
            # The model's tables are ours, and stay on the host.
            spec = arrays.hosted({key: self.decoded(item) for key, item in value["$m"].items()})
            return models.build(spec, targets.Target if spec.get("masked") else models.Model)
        if "$f" in value:
            return self.callable(value["$f"]["file"], value["$f"]["name"])
        return {key: self.decoded(item) for key, item in value.items()}

    def _array(self, value: dict[str, Any]) -> Any:
        shape, dtype = tuple(value["shape"]), dtype_named(value["dtype"])
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size == 0:
            return arrays.moved(read_as(np.empty(shape, dtype), value))
        # Private: older kernels refuse any shared mapping of a memfd that is sealed against writing.
        with mmap.mmap(self.fds[value["$a"]], size, mmap.MAP_PRIVATE, mmap.PROT_READ) as buffer:
            return arrays.moved(read_as(np.frombuffer(buffer, dtype=dtype).reshape(shape).copy(), value))

    def callable(self, file: str, name: str) -> Any:
        """A function, class or method of a file, by its qualified name; the module itself without one."""
        found: Any = self.library.module(file)
        for part in name.split(".") if name else ():
            found = getattr(found, part)
        return found


def _carried(data: bytes) -> Any:
    from .border.codec import decode
    from .border.records import made

    return decode(data, record=made)
