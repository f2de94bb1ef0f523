"""Whether an answer is right but for the rounding of a lower precision, and what was rounded.

The formula is evaluated in float64 with one step, or a few, rounded to a narrower type, and an answer whose
deviation is theirs was computed so. Where steps were rounded in an order of their own no such evaluation
foretells the deviation; then it is told by its size, which is that of the formula rounded throughout, by
nearly every number being off, to both sides, and by vanishing on integers so small that the type holds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks import bfloat16

__all__ = ["Formula", "Lowered", "Rounding", "lowered", "same"]

Array = npt.NDArray[Any]
#: Takes the name of a step and its result, and gives what goes on from there.
Rounding = Callable[[str, Array], Array]
#: The outputs by name, with every step handed to a rounding.
Formula = Callable[[Rounding], Mapping[str, Array]]

#: Share of a deviation that steps must leave unexplained at most to be named.
_LEFT = 0.1
#: Steps that are named together.
_STEPS = 6
#: A step more leaves less than this of what was left; where it leaves more than that, others are swapped.
_BETTER, _MUCH = 0.97, 0.8
#: Size of a deviation in that of the formula rounded throughout, for code rounds fewer steps than this has;
#: and how far from it either way: an eighth and one are those of two types.
_USUAL, _TIMES = 0.7, 2.8
#: A deviation between these, as a share of the truth's size, is looked at.
_LEAST, _MOST = 1e-10, 0.25
#: How many times the usual error of a number the worst row of a call may be off.
_WORST = 40.0
#: Share of numbers that are off where everything is rounded, and share of them on the rarer side.
_SPREAD, _SIDE = 0.6, 0.2
#: How much a deviation may be along the truth, as a cosine.
_ALONG = 0.5


@dataclass(frozen=True, slots=True)
class Lowered:
    """A deviation that is the rounding of a lower precision.

    Attributes:
        type: ``float16``, ``bfloat16`` or ``float32``.
        steps: What is rounded to it, of the formula's steps; empty where that is unknown.
        cut: Whether digits are cut off, in place of being rounded.
        error: The deviation's size as a share of the truth's.
        share: Share of all numbers that are off.
        exact: Whether nothing is off on small integers; ``None`` where that was not tried.
    """

    type: str
    steps: tuple[str, ...]
    cut: bool
    error: float
    share: float
    exact: bool | None = None

    def explains(self, errors: Sequence[float], count: int) -> bool:
        """Whether answers are off in most calls, and mostly by as much as this.

        Args:
            errors: Relative errors of the calls that are off, each of its worst row; NaN for none.
            count: Of how many calls.
        """
        far = sorted(math.inf if math.isnan(error) else error for error in errors)
        return 2 * len(far) >= count and bool(far) and far[len(far) // 2] <= _WORST * self.error

    @property
    def text(self) -> str:
        """A clause that says it."""
        return f"right but for {self.type} precision: {self.figures}"

    @property
    def largest(self) -> float:
        """The largest number of its type."""
        return 65504.0 if self.type == "float16" else 3.4e38

    @property
    def cause(self) -> str:
        """What is rounded, as a clause of its own."""
        how = "cut down" if self.cut else "rounded"
        return f"{_listed(self.steps)} {_are(self.steps)} {how} to {self.type}" if self.steps else ""

    @property
    def figures(self) -> str:
        """What is rounded, by how much numbers are off, and how many."""
        figures = f"error {self.error:.0e} on {_told(self.share)}"
        none = ", none on small integers" if self.exact else ""
        return "; ".join(part for part in (self.cause, f"{figures}{none}") if part)


@dataclass(frozen=True, slots=True)
class _Type:
    name: str
    rounded: Callable[[Array], Array]
    cut: bool = False


def _float16(values: Array) -> Array:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return values.astype(np.float16).astype(np.float64)


def _bfloat16(values: Array) -> Array:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return bfloat16.rounded(values).view(np.ndarray).astype(np.float64)


def _upper_half(values: Array) -> Array:
    """The upper sixteen bits of float32: bfloat16 without its rounding."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        whole = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        return whole.view(np.float32).astype(np.float64).reshape(values.shape)


def _float32(values: Array) -> Array:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return values.astype(np.float32).astype(np.float64)


_TYPES = (
    _Type("float16", _float16),
    _Type("bfloat16", _bfloat16),
    _Type("bfloat16", _upper_half, cut=True),
    _Type("float32", _float32),
)


def lowered(
    made: Mapping[str, Array],
    formula: Formula,
    *,
    dtype: npt.DTypeLike = np.float64,
    exact: Callable[[float], bool] | None = None,
    together: Sequence[tuple[str, ...]] = (),
) -> Lowered | None:
    """What rounding an answer deviates by.

    Args:
        made: The answer, by the names of the formula's outputs.
        formula: What is right, step by step, in float64.
        dtype: Of what came in: no type as wide is a lower precision.
        exact: Calls on integers that every type holds, and says whether the answer is within a share of the
            truth's size; where it is left out, a deviation without named steps is not told.
        together: Steps that are often rounded together, such as all operands; others are found one by one.

    Returns:
        ``None`` where the answer is right, wrong otherwise, of another shape, or not finite.
    """
    truth = formula(_as_it_is)
    if any(np.shape(made[name]) != value.shape for name, value in truth.items()):
        return None
    off = _Off(truth, made)
    if not off.told:
        return None
    with np.errstate(all="ignore"):
        types = [kept for kept in _TYPES if _narrower(kept, np.dtype(dtype))]
        found = _by_steps(off, formula, types, together) or _by_size(off, formula, types)
    if found is None or exact is None:
        return found if found is not None and found.steps else None
    found = replace(found, exact=exact(0.01 * off.size))
    return found if found.steps or found.exact else None


def same(made: Mapping[str, Array], truth: Mapping[str, Array], share: float) -> bool:
    """Whether each output is the truth within a share of its own size."""
    with np.errstate(all="ignore"):
        return all(
            bool(np.abs(made[name] - value).max(initial=0.0) <= share * np.abs(value).max(initial=0.0))
            for name, value in truth.items()
        )


class _Off:
    """How far an answer is off, every output in units of its own size.

    Args:
        truth: By output.
        made: By output.

    Attributes:
        by: All deviations in one row.
        size: Their root mean square.
    """

    def __init__(self, truth: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        self._truth = truth
        self._units = {name: _root_mean_square(value) or 1.0 for name, value in truth.items()}
        self.by = self.of(made)
        self.size = _root_mean_square(self.by)

    @property
    def told(self) -> bool:
        """Whether it is off at all, and by little."""
        return bool(np.isfinite(self.by).all()) and _LEAST < self.size < _MOST

    def of(self, other: Mapping[str, Array]) -> Array:
        """The deviation of another answer."""
        with np.errstate(all="ignore"):
            parts = [
                (np.asarray(other[name], np.float64) - self._truth[name]).ravel() / unit
                for name, unit in self._units.items()
            ]
        return np.concatenate(parts)

    @property
    def share(self) -> float:
        """Share of numbers that are off."""
        return float(np.mean(np.abs(self.by) > 1e-3 * self.size))

    @property
    def spread(self) -> bool:
        """Whether nearly all are, to both sides, and not as the truth is itself."""
        up = float(np.mean(self.by[self.by != 0.0] > 0.0))
        truth = np.concatenate([value.ravel() / self._units[name] for name, value in self._truth.items()])
        along = abs(float(np.mean(self.by * truth))) / (self.size * _root_mean_square(truth))
        return self.share >= _SPREAD and min(up, 1.0 - up) >= _SIDE and along <= _ALONG


def _by_steps(
    off: _Off, formula: Formula, types: Sequence[_Type], together: Sequence[tuple[str, ...]]
) -> Lowered | None:
    """The fewest steps that explain the deviation."""
    names = _steps(formula)
    for kept in types:
        nothing: tuple[tuple[str, ...], float] = (), 1.0
        (chosen, left), before = _best(off, formula, kept, together, nothing), math.inf
        if left > _LEFT:
            chosen, left = nothing
        while _LEFT < left < _BETTER * before:
            before = left
            more = [(*chosen, name) for name in names if name not in chosen and len(chosen) < _STEPS]
            chosen, left = _best(off, formula, kept, more, (chosen, left))
            if left > _MUCH * before:
                # An earlier one may have been taken for the one that it goes into.
                others = [
                    (*(step for step in chosen if step != left_out), name)
                    for left_out in chosen
                    for name in names
                    if name not in chosen
                ]
                chosen, left = _best(off, formula, kept, others, (chosen, left))
        if left <= _LEFT:
            ordered = _needed(off, formula, kept, [name for name in names if name in chosen])
            return Lowered(kept.name, ordered, kept.cut, off.size, off.share)
    return None


def _best(
    off: _Off,
    formula: Formula,
    kept: _Type,
    choices: Sequence[tuple[str, ...]],
    known: tuple[tuple[str, ...], float],
) -> tuple[tuple[str, ...], float]:
    """Of several choices of steps the one that leaves least unexplained, and what it leaves."""
    tried = [(steps, _left(off, formula, kept, steps)) for steps in choices]
    return min([known, *tried], key=lambda choice: choice[1])


def _needed(off: _Off, formula: Formula, kept: _Type, steps: list[str]) -> tuple[str, ...]:
    """The steps without which the deviation is not explained: others were taken before the right ones."""
    for name in list(steps):
        fewer = [other for other in steps if other != name]
        if fewer and _left(off, formula, kept, tuple(fewer)) <= _LEFT:
            steps = fewer
    return tuple(steps)


def _by_size(off: _Off, formula: Formula, types: Sequence[_Type]) -> Lowered | None:
    """The type whose rounding throughout is as large as the deviation."""
    if not off.spread:
        return None
    far = {}
    for kept in types:
        size = _root_mean_square(off.of(formula(lambda _, value, kept=kept: kept.rounded(value))))  # type: ignore[misc]
        if not kept.cut and np.isfinite(size) and size > 0:
            far[kept.name] = abs(math.log(off.size / (_USUAL * size)))
    nearest = min(far, key=lambda name: far[name], default="")
    if not nearest or far[nearest] > math.log(_TIMES):
        return None
    return Lowered(nearest, (), False, off.size, off.share)


def _narrower(kept: _Type, dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize > 4 or (dtype.itemsize == 4 and kept.name != "float32")


def _left(off: _Off, formula: Formula, kept: _Type, steps: tuple[str, ...]) -> float:
    """Share of the deviation that rounding these steps leaves unexplained."""
    made = formula(lambda name, value: kept.rounded(value) if name in steps else value)
    left = _root_mean_square(off.by - off.of(made)) / off.size
    return math.inf if math.isnan(left) else left


def _steps(formula: Formula) -> list[str]:
    names: dict[str, None] = {}

    def noted(name: str, value: Array) -> Array:
        names[name] = None
        return value

    formula(noted)
    return list(names)


def _as_it_is(_: str, value: Array) -> Array:
    return value


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


def _told(share: float) -> str:
    return "every number" if share > 0.98 else f"{share:.0%} of all numbers"


def _are(steps: tuple[str, ...]) -> str:
    return "is" if len(steps) == 1 else "are"


def _listed(steps: tuple[str, ...]) -> str:
    return steps[0] if len(steps) == 1 else f"{', '.join(steps[:-1])} and {steps[-1]}"
