"""What caches and models hold, leaf by leaf: arrays and numbers, each with its path and a handle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.tasks.kv.faces.answers import State

__all__ = ["Leaf", "Path", "leaves", "roots", "whole_numbers"]

Path = tuple[tuple[str, Any], ...]
#: Whole numbers of a cache that are read: a length, or one per sequence or layer; no table of blocks.
_LARGEST = 64


@dataclass(frozen=True, slots=True)
class Leaf:
    """An array or a number.

    Attributes:
        path: Where it is.
        handle: The thing itself.
        told: What the worker says of it.
    """

    path: Path
    handle: Handle
    told: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """What it is: ``array``, ``list``, ``int`` and so on."""
        return str(self.told.get("kind"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return tuple(int(n) for n in self.told.get("shape", ()))

    @property
    def dtype(self) -> str:
        """Its dtype; empty of a plain number."""
        return str(self.told.get("dtype", ""))

    @property
    def floats(self) -> bool:
        """Whether it is an array of floating point; one without elements is a cache to be."""
        floating = self.kind == "array" and self.dtype.startswith("float")
        return floating and bool(self.shape) and 0 not in self.shape

    @property
    def name(self) -> str:
        """Its path in words."""
        return ".".join(str(key) for _kind, key in self.path) or "the model itself"

    def fetched(self, worker: Worker) -> npt.NDArray[Any]:
        """The values of an array, float64."""
        return worker.fetch(self.handle, self.shape)


def roots(state: State) -> list[Handle]:
    """The objects that a cache is."""
    return [state] if isinstance(state, Handle) else list(state or ())


def leaves(worker: Worker, root: Handle) -> Iterator[Leaf]:
    """All that an object holds."""
    for told in worker.leaves(root):
        path = tuple((str(kind), key) for kind, key in told["path"])
        yield Leaf(path, root.part(*path), told)


def whole_numbers(
    worker: Worker, held: Iterable[Handle]
) -> tuple[dict[tuple[Any, ...], npt.NDArray[np.int64]], list[Any]]:
    """The whole numbers that a cache keeps, by path, and the kinds and shapes of all that it does.

    Args:
        worker: Where it is.
        held: What it is.
    """
    numbers, shapes = {}, list[Any]()
    for index, root in enumerate(held):
        for leaf in leaves(worker, root):
            shapes.append((leaf.path, leaf.kind, leaf.shape))
            whole = leaf.kind == "int" or leaf.dtype.startswith(("int", "uint"))
            if whole and leaf.kind in ("int", "scalar"):
                numbers[index, *leaf.path] = np.array(int(leaf.told["value"]))
            elif whole and leaf.kind == "array" and np.prod(leaf.shape) <= _LARGEST:
                numbers[index, *leaf.path] = worker.fetch(leaf.handle, leaf.shape, np.int64)
    return numbers, shapes
