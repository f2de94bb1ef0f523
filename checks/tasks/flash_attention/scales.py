"""What scores are multiplied by in place of 1/√D, by how much too large they are at several sizes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

__all__ = ["by_widths", "scale_told", "scales_that_fit"]

#: B, H, N, D and T of a call.
_Sizes = Mapping[str, int]
_STRAIGHT = 1e-6
_Call = TypeVar("_Call")
#: What puts a call behind others, whatever their D, and in the end how dear it is.
_Cost = tuple[int, ...]


def _padded(unit: int, sizes: _Sizes) -> float:
    return float((sizes["D"] / (-(-sizes["D"] // unit) * unit)) ** 0.5)


#: What scores are multiplied by → its share of 1/√D.
_SCALES: Mapping[str, Callable[[_Sizes], float]] = {
    "1/D (the scale twice)": lambda s: s["D"] ** -0.5,
    "1 (no scale)": lambda s: s["D"] ** 0.5,
    "√D": lambda s: float(s["D"]),
    "D^(-1/4)": lambda s: s["D"] ** 0.25,
    "1/√N": lambda s: (s["D"] / s["N"]) ** 0.5,
    "1/N": lambda s: s["D"] ** 0.5 / s["N"],
    "1/√T": lambda s: (s["D"] / s["T"]) ** 0.5,
    "1/√(H·D)": lambda s: s["H"] ** -0.5,
    "1/√H": lambda s: (s["D"] / s["H"]) ** 0.5,
    "1/√B": lambda s: (s["D"] / s["B"]) ** 0.5,
    "ln 2/√D (base two without log₂e)": lambda s: math.log(2.0),
    "log₂e/√D (log₂e, but not base two)": lambda s: math.log2(math.e),
    "-1/√D": lambda s: -1.0,
    "1/√(2D)": lambda s: 0.5**0.5,
    "1/√(D/2)": lambda s: 2.0**0.5,
    "1/√(D + 1)": lambda s: (s["D"] / (s["D"] + 1)) ** 0.5,
    "1/√(D - 1)": lambda s: (s["D"] / max(s["D"] - 1, 1)) ** 0.5,
    **{
        f"1/√D with D rounded up to a multiple of {unit}": partial(_padded, unit)
        for unit in (4, 8, 16, 32, 64, 128)
    },
    "1/√D with D rounded up to a power of two": lambda s: (s["D"] / (1 << (s["D"] - 1).bit_length())) ** 0.5,
    "1/√64, whatever D is": lambda s: (s["D"] / 64) ** 0.5,
    "1/√128, whatever D is": lambda s: (s["D"] / 128) ** 0.5,
}


def scale_told(slopes: Sequence[float], sizes: Sequence[_Sizes]) -> str:
    """What scores are multiplied by, as a clause; by its number where sizes leave several ways to make it.

    Args:
        slopes: By how much scores are too large, of each call.
        sizes: ``B``, ``H``, ``N``, ``D`` and ``T`` of it.

    Returns:
        Empty where all are right, or where nothing known gives them.
    """
    if all(abs(slope - 1.0) <= _STRAIGHT for slope in slopes):
        return ""
    fits = scales_that_fit(slopes, sizes)
    if len(fits) == 1:
        return f"scores are multiplied by {fits[0]} in place of 1/√D"
    slope, at = slopes[0], sizes[0]
    if fits:
        return f"scores are multiplied by {slope / at['D'] ** 0.5:.4g} in place of 1/√D where D = {at['D']}"
    told = {f"{each:.3g}" for each in slopes}
    return f"scores are {told.pop()} times what they should be" if len(told) == 1 else ""


def scales_that_fit(slopes: Sequence[float], sizes: Sequence[_Sizes]) -> list[str]:
    """What stands in the place of 1/√D, by how many times too large everything is, of each call."""
    pairs = list(zip(slopes, sizes, strict=True))
    return [
        words for words, wanted in _SCALES.items()
        if all(abs(slope - wanted(at)) <= _STRAIGHT * abs(wanted(at)) for slope, at in pairs)
    ]  # fmt: skip


def by_widths(
    calls: Sequence[_Call],
    width: Callable[[_Call], int],
    cost: Callable[[_Call], _Cost],
) -> list[_Call]:
    """Calls in an order in which those of another D come early, so that no scale is told by one D alone.

    Args:
        calls: In any order.
        width: D of one.
        cost: What is dear about it; by all items but the last it is put behind others of any D.
    """
    met: Counter[tuple[_Cost, int]] = Counter()
    ranked: list[tuple[_Cost, int, int, _Call]] = []
    for place, one in enumerate(sorted(calls, key=cost)):
        kind = cost(one)[:-1]
        ranked.append((kind, met[kind, width(one)], place, one))
        met[kind, width(one)] += 1
    return [one for *_, one in sorted(ranked, key=lambda each: each[:3])]
