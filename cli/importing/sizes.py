"""Sizes of a problem of KernelBench: which of its constants they are, and what smaller ones would do.

Those constants are sizes that ``get_inputs`` reads. All shrink by one power, so that what was larger stays
larger and what was equal stays equal, until no array has more entries than wanted. What the constructor is
told too stays a divisor of what it was, and a multiple of what it has to be divisible by: channels and their
groups.
"""

from __future__ import annotations

import ast
import bisect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from judge_tui.cli.importing.constants import Value, assigned, evaluated, functions, globals_in, names_in

__all__ = ["Sizes", "sizes_of"]

#: What is no larger is no size, or is small enough.
_SMALL = 4
#: How many times larger than what is drawn the product of the two largest sizes may be.
_OUTER = 16
_POWERS = tuple(step / 50 for step in range(50, 0, -1))


@dataclass(frozen=True)
class Sizes:
    """The sizes of a problem.

    Attributes:
        told: Constant → its value, as the problem has it.
        tied: Those of them that the constructor is told too.
    """

    told: Mapping[str, Value]
    tied: frozenset[str]
    _constants: Mapping[str, ast.expr]
    _inputs: ast.FunctionDef | None
    _steps: tuple[int, ...]
    _reach: int

    @property
    def entries(self) -> int:
        """Entries of the largest array, as far as its constants tell."""
        return self._entries(self.told)

    def within(self, entries: int, *, odd: bool = False) -> dict[str, Value]:
        """Sizes with which no array has many more entries; the problem's own where it has fewer anyway.

        Args:
            entries: How many.
            odd: Whether sizes that are free to are odd, so that no block of a kernel fits.
        """

        def at(power: float) -> dict[str, Value]:
            found = {name: self._shrunk(name, value, power, odd) for name, value in self.told.items()}
            return found | self._told_apart(found, 1 + odd)

        if self.entries <= entries:
            return dict(self.told)
        fitting = bisect.bisect_left(_POWERS, True, key=lambda power: self._entries(at(power)) <= entries)
        return at(_POWERS[min(fitting, len(_POWERS) - 1)])

    def _shrunk(self, name: str, value: Value, power: float, odd: bool) -> Value:
        if isinstance(value, tuple):
            return tuple(self._shrunk(name, item, power, odd) for item in value)
        if not isinstance(value, int) or value <= _SMALL:
            return value
        wanted: int = max(2, round(value**power))
        if name in self.tied:
            return self._divisor(value, wanted)
        if "batch" not in name:
            wanted = max(wanted, min(value, self._reach))
        return min(value, wanted | 1 if odd else wanted)

    def _told_apart(self, found: Mapping[str, Value], by: int) -> dict[str, int]:
        """Sizes that have come to be alike, made different again: who takes one axis for another is seen."""
        apart: dict[str, int] = {}
        free = {name: value for name, value in found.items() if isinstance(value, int)}
        names = [name for name in free if name not in self.tied]
        names.sort(key=lambda name: self.told[name], reverse=True)
        for larger, name in pairwise(names):
            above = apart.get(larger, free[larger])
            if self.told[name] != self.told[larger] and free[name] >= above > _SMALL + by:
                apart[name] = above - by
        return apart

    def _divisor(self, value: int, wanted: int) -> int:
        """A divisor that keeps every divisibility that there was, as near to what is wanted as there is."""
        step = math.lcm(*(step for step in self._steps if value % step == 0 and step < value))
        low = [each for each in range(1, math.isqrt(value) + 1) if value % each == 0]
        fine = [each for each in (*low, *(value // each for each in low)) if each > 1 and each % step == 0]
        return min(fine, key=lambda each: abs(math.log(each / wanted)), default=value)

    def _entries(self, sizes: Mapping[str, Value]) -> int:
        inside = dict(assigned(self._inputs.body)) if self._inputs is not None else {}
        known = _known({**self._constants, **inside}, sizes)
        drawn = max((_product(shape, known) for shape in _shapes(self._inputs)), default=0)
        # what is multiplied out of two axes may be larger than either array
        free = sorted(item for name in sizes.keys() - self.tied for item in _whole(sizes[name]))
        return max(drawn, math.prod(free[-2:]) // _OUTER)


def sizes_of(tree: ast.Module) -> Sizes:
    """The sizes of a problem.

    Args:
        tree: Its file.
    """
    constants = dict(assigned(tree.body))
    made = functions(tree.body)
    inputs, starts = made.get("get_inputs"), made.get("get_init_inputs")
    drawn, told = _reached(inputs, constants), _reached(starts, constants)
    held = frozenset[str]().union(*(globals_in(node) for node in tree.body if isinstance(node, ast.ClassDef)))
    known = _known(constants, {})
    sizes = {
        name: known[name]
        for name, node in constants.items()
        if name in drawn - held and name in known and not names_in(node) and _is_size(known[name])
    }
    plain = (name for name in told - sizes.keys() if not names_in(constants[name]))
    fixed = {name: known[name] for name in plain if name in known}
    return Sizes(
        sizes,
        frozenset(told & sizes.keys()),
        constants,
        inputs,
        tuple(sorted({item for value in fixed.values() for item in _whole(value) if item > 1})),
        _reach(fixed),
    )


def _is_size(value: Value) -> bool:
    return any(item > _SMALL for item in _whole(value))


def _whole(value: Value) -> Iterator[int]:
    """The whole numbers in a value."""
    for item in value if isinstance(value, tuple) else (value,):
        if isinstance(item, tuple):
            yield from _whole(item)
        elif isinstance(item, int) and not isinstance(item, bool):
            yield item


def _reach(fixed: Mapping[str, Value]) -> int:
    """How far along an axis a window of the problem goes, by the names of what says so."""

    def largest(word: str) -> int:
        return max((n for name, value in fixed.items() if word in name for n in _whole(value)), default=1)

    return 1 + (largest("kernel") - 1) * largest("dilation")


def _reached(function: ast.FunctionDef | None, constants: Mapping[str, ast.expr]) -> frozenset[str]:
    """Constants that a function reads, and those that they are made of."""
    found: set[str] = set()
    todo = set(names_in(function)) if function is not None else set()
    while todo:
        name = todo.pop()
        if name in constants and name not in found:
            found.add(name)
            todo |= names_in(constants[name])
    return frozenset(found)


def _known(constants: Mapping[str, ast.expr], instead: Mapping[str, Value]) -> dict[str, Value]:
    """Constant → value, with others in place of some."""
    found: dict[str, Value] = {}
    for name, node in constants.items():
        value = instead[name] if name in instead else evaluated(node, found)
        if value is not None:
            found[name] = value
    return found


def _shapes(function: ast.FunctionDef | None) -> Iterator[list[ast.expr]]:
    """What may be a shape in a function: the arguments of a call, the items of a tuple or list."""
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.Call):
            yield node.args
        elif isinstance(node, (ast.Tuple, ast.List)):
            yield node.elts


def _product(shape: list[ast.expr], known: Mapping[str, Value]) -> int:
    """Entries of an array of a shape, as far as numbers tell."""
    parts = (evaluated(ast.Tuple([each], ast.Load()), known) for each in shape)
    return math.prod(max(1, item) for part in parts if part is not None for item in _whole(part))
