"""Tallies of what a submission asks of its arrays during one call."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from .load import PACKAGE
from .products import PRODUCTS, multiply_adds, size

__all__ = ["Counters", "active"]

Line = tuple[str, int]

#: Ufuncs that are exponentials, with the factor that turns their argument into exp's.
_EXPONENTIALS = {"exp": 1.0, "expm1": 1.0, "exp2": math.log(2.0)}
_MOST_LINES = 12
_active: list[Counters] = []


def active() -> Counters | None:
    """The counters that run now."""
    return _active[-1] if _active else None


class Counters:
    """What was asked for between :meth:`start` and :meth:`stop`.

    Args:
        hosted: Brings an array, wherever it lives, into NumPy's memory.

    Attributes:
        switches: Called with ``True`` at the start and ``False`` at the stop (the namespace routes by it).
    """

    def __init__(self, hosted: Callable[[Any], Any]) -> None:
        self._hosted = hosted
        self.switches: list[Callable[[bool], None]] = []
        self._errstate: Any = None
        self._reset()

    def _reset(self) -> None:
        self.exp_max: float | None = None
        self.exp_line: Line | None = None
        self.exp_elements = 0
        self.products = 0
        self.product_elements = 0
        self.multiply_adds = 0
        self.elements = 0
        self.allocations = 0
        self.largest = 0
        self.largest_line: Line | None = None
        self.invalid: Counter[Line | None] = Counter()
        self.work: Counter[Line] = Counter()

    def start(self) -> None:
        """Begin to count from zero."""
        self._reset()
        if self in _active:
            return
        # A submission that ignores or raises by np.seterr keeps what it chose.
        if np.geterr()["invalid"] in ("warn", "print"):
            self._errstate = np.errstate(invalid="call", call=self._invalid)
            self._errstate.__enter__()
        _active.append(self)
        for switch in self.switches:
            switch(True)

    def stop(self) -> dict[str, Any]:
        """Stop, and tell the counts.

        Returns:
            ``exp_max_argument``: largest argument of exp; of exp2 times ln 2; ``None`` without exponentials.
            ``exp_elements``: exponentials evaluated, in elements.
            ``products``, ``product_elements``, ``multiply_adds``: matrix products, elements they made, work.
            ``elements``: elements of element-wise operations and reductions.
            ``allocations``, ``largest_allocation``: new arrays of functions and operators; largest in bytes.
            ``invalid_events``: floating-point "invalid" that the submission did not silence.
            ``work``: ``[file, line, multiply_adds]``, most first.
            ``exp_at``, ``largest_allocation_at``, ``invalid_at``: ``[file, line]`` or ``None``.
        """
        if self in _active:
            _active.remove(self)
            for switch in self.switches:
                switch(False)
        if self._errstate is not None:
            self._errstate.__exit__(None, None, None)
            self._errstate = None
        first_invalid = next((line for line in self.invalid if line), None)
        return {
            "exp_max_argument": self.exp_max,
            "exp_at": _told(self.exp_line),
            "exp_elements": self.exp_elements,
            "products": self.products,
            "product_elements": self.product_elements,
            "multiply_adds": self.multiply_adds,
            "elements": self.elements,
            "work": [[*(_told(line) or ()), count] for line, count in self.work.most_common(_MOST_LINES)],
            "allocations": self.allocations,
            "largest_allocation": self.largest,
            "largest_allocation_at": _told(self.largest_line),
            "invalid_events": self.invalid.total(),
            "invalid_at": _told(first_invalid),
        }

    def operation(self, name: str, operands: Any, result: Any, where: Any = True) -> None:
        """Note one array operation.

        Args:
            name: NumPy's name of it.
            operands: Its positional arguments.
            result: What it gave; of several results the first.
            where: Lanes that it evaluated.
        """
        if name in PRODUCTS:
            self._product(name, operands, result)
            return
        self.elements += int(size(result))
        if name in _EXPONENTIALS:
            self._exponential(operands[0], _EXPONENTIALS[name], where)

    def _product(self, name: str, operands: Any, result: Any) -> None:
        count = multiply_adds(name, operands, result)
        if not count:
            return
        self.products += 1
        self.product_elements += int(size(result))
        self.multiply_adds += count
        if line := _line():
            self.work[line] += count

    def _exponential(self, argument: Any, factor: float, where: Any) -> None:
        lanes = np.asarray(self._hosted(argument))
        if where is not True:
            spread, mask = np.broadcast_arrays(lanes, self._hosted(where))
            lanes = spread[mask]
        self.exp_elements += lanes.size
        if lanes.size == 0 or lanes.dtype.kind not in "fiu":
            return
        # fmax passes over NaN, and raises no floating-point event of its own.
        largest = float(np.fmax.reduce(lanes, axis=None)) * factor
        if not math.isnan(largest) and (self.exp_max is None or largest > self.exp_max):
            self.exp_max, self.exp_line = largest, _line()

    def allocation(self, array: Any) -> None:
        """Note a new array; views cost nothing."""
        if array.base is not None:
            return
        self.allocations += 1
        if array.nbytes > self.largest:
            self.largest, self.largest_line = int(array.nbytes), _line()

    def _invalid(self, kind: str, flag: int) -> None:
        self.invalid[_line()] += 1
        # As without counting: a filter that turns warnings into errors still does.
        warnings.warn(f"{kind} encountered", RuntimeWarning, stacklevel=2)


def _line() -> Line | None:
    """The innermost line of the submission that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(PACKAGE + "."):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def _told(line: Line | None) -> list[Any] | None:
    if line is None:
        return None
    package = sys.modules.get(PACKAGE)
    root = next(iter(getattr(package, "__path__", ())), "")
    file = os.path.relpath(line[0], root) if root and line[0].startswith(root) else os.path.basename(line[0])
    return [file, line[1]]
