"""Objects that were handed over to the other side, by number, kept for as long as it has them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from .codec import MalformedError, TooMuchError

__all__ = ["Table"]

_MOST = 200_000


class Table:
    """The objects of one side that the other has.

    A number counts how often it was told, so that what is told again while it is given back stays.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forget all of them: the process that had them is no more."""
        self._objects: dict[int, list[Any]] = {}
        self._numbers: dict[int, int] = {}
        self._next = 1

    def number(self, value: Any) -> int:
        """The number under which an object is told, once more.

        Raises:
            TooMuchError: There are too many.
        """
        with self._lock:
            number = self._numbers.get(id(value))
            if number is not None:
                self._objects[number][1] += 1
                return number
            return self._added(value, 1)

    def knows(self, value: Any) -> bool:
        """Whether an object is one of them."""
        return id(value) in self._numbers

    def class_number(self, kind: type) -> tuple[int, bool]:
        """A class's number, and whether it is new; it is never given back."""
        with self._lock:
            number = self._numbers.get(id(kind))
            if number is not None:
                new = self._objects[number][1] is not None
                self._objects[number][1] = None
                return number, new
            return self._added(kind, None), True

    def _added(self, value: Any, times: int | None) -> int:
        if len(self._objects) >= _MOST:
            raise TooMuchError(f"more than {_MOST:,} objects that do not cross by value")
        number, self._next = self._next, self._next + 1
        self._objects[number] = [value, times]
        self._numbers[id(value)] = number
        return number

    def at(self, number: int) -> Any:
        """The object of a number.

        Raises:
            MalformedError: There is none.
        """
        try:
            return self._objects[number][0]
        except KeyError:
            raise MalformedError("a number of no object") from None

    def released(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Give back what the other side has no more."""
        if not pairs:
            return
        dead: list[Any] = []
        with self._lock:
            for number, times in pairs:
                entry = self._objects.get(number)
                if entry is None or entry[1] is None:
                    continue
                entry[1] -= times
                if entry[1] <= 0:
                    # it ends where nobody holds the lock: what ends may run code
                    dead.append(self._objects.pop(number))
                    del self._numbers[id(entry[0])]
