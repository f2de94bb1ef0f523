"""What was computed of arrays, by their content: of one draw the truth is the same for all submissions."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Remembered"]

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


def _content(array: npt.NDArray[Any]) -> tuple[str, tuple[int, ...], bytes]:
    data = np.ascontiguousarray(array)
    return data.dtype.str, data.shape, hashlib.blake2b(data.data if data.size else b"").digest()
