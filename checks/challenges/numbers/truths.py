"""What the author's code draws and answers: asked of its jail once, and kept for all submissions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.calling.remote import Random
from judge_tui.checks.challenges.author import Author, Authors
from judge_tui.checks.challenges.numbers.comparing import compared
from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.challenges.numbers.parts import parts
from judge_tui.checks.challenges.numbers.sizes import between, is_size
from judge_tui.checks.challenges.numbers.values import cast, has_floats, moved
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Raised
from judge_tui.checks.remembered import Cached
from judge_tui.checks.tolerance import SLACK
from judge_tui.checks.worker.border.codec import Encoder

__all__ = ["Case", "Truths", "work_of"]

_DRAWN = 3
_MOVES = 3
_KEPT_BYTES = 256 << 20
#: Bytes of inputs at a timed size up to which the answer to them is held.
_LARGEST = 8 << 20


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs that are judged by.

    Attributes:
        label: Its sizes, in words.
        inputs: Name → value.
    """

    label: str
    inputs: Mapping[str, Any]


class Truths:
    """The author's inputs and answers.

    Args:
        authors: Its processes.
        numbers: What it offers.
    """

    def __init__(self, authors: Authors, numbers: Numbers) -> None:
        self.authors = authors
        self.numbers = numbers
        self._kept = Cached(_KEPT_BYTES)

    def inputs(self, sizes: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The inputs of a case, from a seed."""
        found: dict[str, Any] = self._once("inputs", (seed, dict(sizes)), lambda: self.drawn(sizes, seed))
        return found

    def drawn(self, sizes: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The same, drawn anew and not kept."""
        found = self._here.call("inputs", [Random(seed)], sizes)
        if not isinstance(found, dict):
            raise self._here.fault(f"inputs gives no dict for {_label(sizes)}")
        return found

    def answer(self, inputs: Mapping[str, Any]) -> Any:
        """What the reference gives; the same object for the same inputs, which nobody may change."""
        return self._once("reference", dict(inputs), lambda: self._here.call("reference", (), inputs))

    def cases(self, rng: np.random.Generator) -> Iterator[Case]:
        """The cases, and drawn sizes between them, each with inputs of its own."""
        sizes = self.numbers.sizes
        for case in sizes:
            yield Case(_label(case), self.inputs(case, _seed(rng)))
        yield from self._timed(rng)
        for case in between(sizes, rng, _DRAWN):
            # what the author's own code refuses was no case
            try:
                inputs = self.inputs(case, _seed(rng))
                if "reference" in self.numbers.functions:
                    self.answer(inputs)
            except ChallengeFault:
                continue
            yield Case(_label(case), inputs)

    def _timed(self, rng: np.random.Generator) -> Iterator[Case]:
        """Cases of the sizes that are timed, where they are no matter of minutes."""
        density = 0.0
        for sizes in sorted(self.numbers.bench_sizes, key=work_of):
            # what would be gigabytes is not drawn to be measured
            if density * work_of(sizes) > _LARGEST:
                break
            inputs = self.drawn(sizes, _seed(rng))
            length = len(Encoder().encode(inputs))
            density = length / work_of(sizes)
            if length <= _LARGEST:
                yield Case(_label(sizes), inputs)

    def limits(self, inputs: Mapping[str, Any], dtype: str, rng: np.random.Generator) -> dict[str, float]:
        """The limit for each part of the answer, by dtype: the author's own, else calibrated.

        Fifty times the largest of the dtype's rounding, what the reference itself loses in it, and how far
        its answer moves when every input moves by a unit in its last place.

        Args:
            inputs: In ``dtype`` already.
            dtype: Of the submission's inputs.
            rng: Draws the movements.
        """
        wide = cast(dict(inputs), "float64")
        truth = parts(self.answer(wide), self.numbers)
        known = {name: self.stated(name, dtype) for name in truth}
        if all(limit is not None for limit in known.values()):
            return {name: float(limit or 0.0) for name, limit in known.items()}
        losses = self.losses(inputs, dtype, rng)
        rounding = float(np.finfo(np.dtype(dtype)).eps)
        found: dict[str, float] = {}
        for name, stated in known.items():
            errors = [compared(loss[name], truth[name]) for loss in losses if name in loss]
            lost = [each.error for each in errors if math.isfinite(each.error)]
            found[name] = SLACK * max([rounding, *lost]) if stated is None else stated
        return found

    def losses(
        self, inputs: Mapping[str, Any], dtype: str, rng: np.random.Generator, *, units: float = 1.0
    ) -> list[dict[str, Any]]:
        """What the reference gives in a dtype, and where every input is moved: each by name of its parts.

        Args:
            inputs: In ``dtype`` already.
            dtype: Of the submission's inputs.
            rng: Draws the movements.
            units: How far they go, in units in the last place.
        """
        wide = cast(dict(inputs), "float64")
        found = [self.answer(inputs)] if dtype != "float64" else []
        for _ in range(_MOVES if has_floats(wide) else 0):
            try:
                found.append(self.answer(moved(wide, rng, dtype, units)))
            except ChallengeFault as fault:
                # an input at the end of what the reference takes was moved over it
                if not isinstance(fault.__cause__, Raised):
                    raise
        return [parts(answer, self.numbers) for answer in found]

    def stated(self, name: str, dtype: str) -> float | None:
        """The author's own limit for a part, if there is one."""
        stated = self.numbers.tolerance
        if not isinstance(stated, dict):
            return stated
        own = stated.get(name)
        if isinstance(own, dict):
            own = own.get(dtype)
        found = own if own is not None else stated.get(dtype)
        return found if isinstance(found, float) else None

    @property
    def _here(self) -> Author:
        return self.authors.here()

    def _once(self, what: str, of: Any, make: Callable[[], Any]) -> Any:
        key = hashlib.blake2b(what.encode() + Encoder().encode(of), digest_size=16).digest()
        return self._kept.of(key, make)


def work_of(sizes: Mapping[str, Any]) -> float:
    """How much there is to do at some sizes, in no unit: the product of their numbers, at least 1."""

    def numbers(value: Any) -> Iterator[int]:
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, (tuple, list)):
                yield from numbers(item)
            elif is_size(item):
                yield max(1, item)

    return math.prod(map(float, numbers(tuple(sizes.values()))))


def _label(sizes: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sizes.items())[:80] or "the only case"


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))
