"""What the author's code draws and answers: asked of its jail once, and kept for all submissions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from judge_tui.checks.calling.remote import Random
from judge_tui.checks.challenges.author import Author, Authors
from judge_tui.checks.challenges.numbers.comparing import Compared, compared
from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.challenges.numbers.values import cast, has_floats, moved
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.remembered import Cached
from judge_tui.checks.tolerance import SLACK
from judge_tui.checks.worker.border.codec import Encoder

__all__ = ["Case", "Truths", "parts", "work_of"]

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
        names = [output.name for output in self.numbers.outputs]
        known = {name: self.stated(name, dtype) for name in names}
        if all(limit is not None for limit in known.values()):
            return {name: float(limit or 0.0) for name, limit in known.items()}
        wide = cast(dict(inputs), "float64")
        truth = self.answer(wide)
        losses = [self.answer(inputs)] if dtype != "float64" else []
        if has_floats(wide):
            losses += [self.answer(moved(wide, rng, dtype)) for _ in range(_MOVES)]
        rounding = float(np.finfo(np.dtype(dtype)).eps)
        found: dict[str, float] = {}
        for name, stated in known.items():
            part = parts(truth, self.numbers)[name]
            errors = [compared(parts(loss, self.numbers)[name], part) for loss in losses]
            lost = [each.error for each in errors if math.isfinite(each.error)]
            found[name] = SLACK * max([rounding, *lost]) if stated is None else stated
        return found

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


def parts(answer: Any, numbers: Numbers) -> dict[str, Any]:
    """Name → part of an answer of the reference's; the whole under its only name."""
    outputs = numbers.outputs
    if len(outputs) == 1:
        (output,) = outputs
        lone = isinstance(answer, np.ndarray) or output.shape is None
        return {output.name: answer if lone else next(iter(_items(answer)))}
    return {output.name: part for output, part in zip(outputs, _items(answer), strict=True)}


def _items(answer: Any) -> Iterable[Any]:
    fields = getattr(answer, "fields", None)
    if isinstance(fields, Mapping):
        return fields.values()
    return answer.values() if isinstance(answer, Mapping) else answer


def between(
    cases: Sequence[Mapping[str, Any]], rng: np.random.Generator, count: int
) -> Iterator[dict[str, Any]]:
    """Sizes between those of two cases, so that what holds between sizes in both holds between them.

    A size that is even, or a power of two, in all cases stays so.
    """
    varied = [case for case in cases if _whole(case) and case.keys() == cases[0].keys()]
    seen = [dict(case) for case in varied]
    for _ in range(count if len(varied) > 1 else 0):
        one, other = (varied[int(index)] for index in rng.choice(len(varied), 2, replace=False))
        share = float(rng.random())
        made = {
            key: _kept_kind(round(value + share * (other[key] - value)), [case[key] for case in varied])
            if _is_size(value)
            else value
            for key, value in one.items()
        }
        if made not in seen:
            seen.append(made)
            yield made


def work_of(sizes: Mapping[str, Any]) -> float:
    """How much there is to do at some sizes, in no unit: the product of their numbers, at least 1."""

    def numbers(value: Any) -> Iterator[int]:
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, (tuple, list)):
                yield from numbers(item)
            elif _is_size(item):
                yield max(1, item)

    return math.prod(map(float, numbers(tuple(sizes.values()))))


def _whole(case: Mapping[str, Any]) -> bool:
    return any(map(_is_size, case.values()))


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kept_kind(value: int, all_: Sequence[Any]) -> int:
    """A size near one that is what all others are: a power of two, a multiple, or the only one there is."""
    known = [int(item) for item in all_ if _is_size(item)]
    low, high = min(known), max(known)
    if len(known) < len(all_) or low == high:
        return value if low != high else low
    if low > 0 and all(item & (item - 1) == 0 for item in known) and high > 2:
        value = 1 << max(value, 1).bit_length() - 1
    elif (step := int(reduce(math.gcd, known))) > 1:
        value -= value % step
    return min(max(value, low), high)


def _label(sizes: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sizes.items())[:80] or "the only case"


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))


def worst(found: Iterable[Compared]) -> Compared:
    """The one that is furthest off."""
    return max(found, key=lambda each: math.inf if math.isnan(each.error) else each.error, default=Compared())
