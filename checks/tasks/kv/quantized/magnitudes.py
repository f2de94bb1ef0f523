"""Small and large numbers: what a scale, or a factor that is one over it, has no digits for.

A factor of 127 / range passes what float16 holds where the range is under 0.002, and its square long before.
Scales in float16 have few digits for ranges under 0.0001, which is no mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.quantized.held import Judged
from judge_tui.checks.tasks.kv.quantized.truth import drawn_shape, even

__all__ = ["LOST", "SIZES", "border", "judge_magnitudes"]

Array = npt.NDArray[Any]
#: Largest numbers that are tried.
SIZES = (1e-2, 1e-3, 1e-4, 1e2, 1e3, 1e4)
_TOKENS = 32
#: From which share of the range on a number is lost, and halvings of the border, in logarithms.
LOST, _HALVINGS = 0.9, 12
#: The largest number of float16, what rounds to 0 in it, and how near a border must be to one of these.
_MOST, _LEAST, _NEAR = 65504.0, 2.0**-25, 0.03


def judge_magnitudes(job: Judged) -> None:
    """Numbers within other ranges than ±1 must not be lost.

    Args:
        job: The store; numbers within ±1 are right.
    """
    if _lost(job, 1.0):
        return
    for size in SIZES:
        lost = _lost(job, size)
        words = f"numbers within ±{size:g}"
        job.found.claim(
            f"{job.label}: {words}: none is lost", not lost, measured=lost or "none",
            limit="within half a step of a scale of theirs", **job.coder.where,
        )  # fmt: skip
        if lost:
            where = border(lambda other: bool(_lost(job, other)), size, job.bits)
            job.wrong.insert(0, f"{words} {lost}, and are {where}")
            return


def _lost(job: Judged, size: float) -> str:
    """What numbers within ±size come back as, where some are lost; else nothing."""
    rng = job.draw("magnitudes", job.told)
    shape = drawn_shape(job.bench.sizes("magnitudes", job.told), _TOKENS)
    k, v = (even(rng, shape) * np.float32(size) for _ in range(2))
    x = np.stack([k, v]).astype(np.float64)
    back = job.back(k, v)
    if not np.isfinite(back).all():
        return "come back not finite"
    if not np.abs(back - x).max() >= LOST * size:
        return ""
    return "come back as 0" if not back.any() else f"come back within ±{np.abs(back).max():.3g}"


def border(lost: Callable[[float], bool], size: float, bits: int) -> str:
    """From where on numbers come back, and which number of float16 is met there, as a clause.

    Args:
        lost: Whether numbers within ±size are lost; those within ±1 are not.
        size: One that is.
        bits: Of a code.
    """
    right, wrong = 1.0, size
    for _halving in range(_HALVINGS):
        middle = float(np.sqrt(right * wrong))
        right, wrong = (right, middle) if lost(middle) else (middle, wrong)
    side = f"from ±{right:.3g} on" if size < 1.0 else f"up to ±{right:.3g}"
    return f"right {side}{_why(right, bits, small=size < 1.0)}"


def _why(border: float, bits: int, *, small: bool) -> str:
    """Which number of float16 is met at a border, as the end of a clause; empty where none is."""
    most = f"passes {_MOST:.0f}, the largest number of float16"
    if not small:
        for words, value in (("the square of a number", border**2), ("127 times a number", 127.0 * border)):
            if abs(value / _MOST - 1.0) <= _NEAR:
                return f": beyond that {words} {most}"
        return ""
    if abs(border**2 / _LEAST - 1.0) <= 2 * _NEAR:
        return ": below that the square of a number is 0 in float16"
    for top in (2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1):
        if abs(top / border / _MOST - 1.0) <= _NEAR:
            return f": below that {top} / range {most}"
    return ""
