"""What codes may cost: inputs whose range is known in every group, steps read off the answers, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.sizes import Range, Sizes

__all__ = ["Lattice", "absmax", "drawn_shape", "even", "rising", "wide"]

Array = npt.NDArray[Any]
_GROUP = 8
#: What float16 rounds of a number, a scale or an answer: two roundings of half a unit in the last place.
FLOAT16 = 2.0**-10


def drawn_shape(sizes: Sizes, tokens: int | Range, width: int = 64) -> tuple[int, int, int, int]:
    """(B, H, N, D) of a few sequences and heads; a width that groups of 16, 32 and 64 divide."""
    length = tokens if isinstance(tokens, int) else sizes.between(*tokens)
    return sizes.between(2, 3), sizes.between(2, 4), length, width


def even(rng: np.random.Generator, shape: tuple[int, int, int, int]) -> Array:
    """Uniform in ±1, with −1 and +1 in every token of every head, in every channel and in every 8 channels.

    Whatever group a scale is taken over, its range is the same, so that one limit holds for all.

    Args:
        rng: Where the numbers come from.
        shape: (B, H, N, D), D a multiple of 8 and N at least 9 for the channels.
    """
    x = rng.uniform(-1.0, 1.0, shape)
    _b, _h, tokens, width = shape
    for t in range(tokens):
        for start in range(0, width - 1, _GROUP):
            size = min(_GROUP, width - start)
            x[:, :, t, start + t % size] = 1.0
            x[:, :, t, start + (t + 1) % size] = -1.0
    return x.astype(np.float32)


def rising(rng: np.random.Generator, shape: tuple[int, int, int, int]) -> Array:
    """The same with tokens that grow, each a fifth larger than the one before."""
    growth = 1.2 ** np.arange(shape[2])
    return np.asarray(even(rng, shape) * growth[None, None, :, None], np.float32)


def wide(rng: np.random.Generator, shape: tuple[int, int, int, int], channel: int, size: float) -> Array:
    """Uniform in ±1 but for one channel, whose numbers are all about ``size`` large."""
    x = even(rng, shape)
    sign = rng.choice([-1.0, 1.0], shape[:3])
    x[..., channel] = sign * size * rng.uniform(0.9, 1.0, shape[:3])
    return x


def absmax(x: Array, bits: int) -> Array:
    """Codes from the largest magnitude of every token and head, and back: what others are held against.

    Args:
        x: (..., D).
        bits: Of a code; symmetric, 2^(bits − 1) − 1 steps each way.
    """
    x = np.asarray(x, np.float64)
    top = 2 ** (bits - 1) - 1
    scale = np.abs(x).max(axis=-1, keepdims=True) / top
    scale = np.where(scale == 0, 1.0, scale)
    return np.asarray(np.rint(x / scale) * scale)


@dataclass(frozen=True, slots=True)
class Lattice:
    """The values that come back, when every group has the same range.

    Attributes:
        levels: How many there are.
        step: Between two of them; 0 where there are too many for codes of eight bits.
    """

    levels: int
    step: float

    @classmethod
    def of(cls, back: Array) -> Lattice:
        """Read it off answers to :func:`even` numbers."""
        values = np.unique(np.round(np.asarray(back, np.float64).ravel(), 5))
        if values.size < 3 or not np.all(np.isfinite(values)):
            return cls(int(values.size), 0.0)
        # Scales in float16 and the like spread one level over a few neighbours.
        gaps = np.diff(values)
        gaps = gaps[gaps > 1.0 / 1024]
        if gaps.size == 0 or np.median(gaps) * 600 < 2.0 or gaps.size > 300:
            return cls(int(values.size), 0.0)
        return cls(int(gaps.size) + 1, float(np.median(gaps)))

    def covers(self, back: Array, bits: int) -> bool:
        """Whether its levels, no more than a code has, are all that came back: one scale, not many mixed."""
        span = float(np.max(back) - np.min(back))
        return self.levels <= 2**bits + 2 and 0 < 0.9 * span < self.step * (self.levels - 1) < 1.1 * span

    @property
    def bits(self) -> int:
        """The width of code that gives as many levels; 0 when unknown."""
        if not self.step:
            return 0
        return 4 if self.levels <= 17 else 8
