"""What was computed of arrays, by their content: of one draw the truth is the same for all submissions."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Cached", "Remembered"]

_T = TypeVar("_T")


class Remembered(Generic[_T]):
    """Results of one function; the ones asked for last stay. For any number of threads.

    Args:
        most: How many stay.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, _T] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, arrays: Sequence[npt.NDArray[Any]], make: Callable[[], _T], *more: Hashable) -> _T:
        """The result for arrays with this content.

        Args:
            arrays: What it is computed of.
            make: Computes it; nobody may change what it gives.
            more: What else it depends on.
        """
        key = (*more, *map(_content, arrays))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


class Cached:
    """Whatever is computed once, by keys; what was asked for last stays. For any number of threads.

    Args:
        most: Bytes of arrays that stay at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value under a key.

        Args:
            key: Says all that it depends on.
            make: Computes it; nobody may change what it gives.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        made = make()
        size = _nbytes(made)
        with self._lock:
            if size <= self._most and key not in self._kept:
                self._kept[key] = made, size
                self._bytes += size
            while self._bytes > self._most:
                self._bytes -= self._kept.popitem(last=False)[1][1]
        return made


def _nbytes(value: Any) -> int:
    """Roughly what a value holds."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(_nbytes, value.values())) + 64 * len(value)
    if isinstance(value, (list, tuple)):
        return sum(map(_nbytes, value)) + 16 * len(value)
    return 64


def _content(array: npt.NDArray[Any]) -> tuple[str, tuple[int, ...], bytes]:
    data = np.ascontiguousarray(array)
    return data.dtype.str, data.shape, hashlib.blake2b(data.data if data.size else b"").digest()
