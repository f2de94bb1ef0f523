"""Cases that a forward is called with: drawn inputs and how they are cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bfloat16 import Bfloat16
from judge_tui.checks.remembered import Remembered
from judge_tui.checks.tasks.flash_attention.reference import Array, attention

__all__ = ["Case", "drawn", "swept"]

#: Tiles that lengths are tried with in turn.
_TILES = (1, 2, 3, 4, 5, 7, 8, 16, 32)
#: What scores are multiplied by, so that maxima rise between tiles by little and by much.
_SPREADS = (1.0, 4.0, 12.0, 30.0)
_WIDTHS = (*range(1, 18), 31, 32, 33, 64, 65)
_TRUTHS: Remembered[Array] = Remembered()


@dataclass(frozen=True, slots=True)
class Case:
    """One call: inputs and how they are cut.

    Attributes:
        q: Queries (B, H, N, D).
        k: Keys, same shape.
        v: Values, same shape.
        tile: Rows per tile.
        causal: Whether query i sees keys up to i only.
        name: What is special about it.
        key_tile: Rows per key tile; 0 for ``tile``.
    """

    q: Array
    k: Array
    v: Array
    tile: int
    causal: bool
    name: str = ""
    key_tile: int = 0

    def __str__(self) -> str:
        batch, heads, length, width = self.q.shape
        shape = f"B={batch} H={heads} N={length} D={width} T={self.tile}"
        dtype = "bfloat16" if isinstance(self.q, Bfloat16) else self.q.dtype
        kind = f"{'causal' if self.causal else 'full'}, {dtype}"
        return f"{self.name + ': ' if self.name else ''}{shape}, {kind}"

    @property
    def truth(self) -> Array:
        """The reference's answer, float64; read-only."""
        return _TRUTHS.of((self.q, self.k, self.v), self._answered, self.causal)

    def _answered(self) -> Array:
        answer = attention(self.q, self.k, self.v, self.causal)
        answer.setflags(write=False)
        return answer


def drawn(
    rng: np.random.Generator,
    shape: tuple[int, int, int, int],
    tile: int,
    causal: bool,
    *,
    spread: float = 1.0,
    dtype: npt.DTypeLike = np.float64,
    name: str = "",
) -> Case:
    """Normal q, k, v; ``spread`` multiplies the scores."""
    q, k, v = (rng.standard_normal(shape).astype(dtype) for _ in range(3))
    return Case((q * spread).astype(dtype), k, v, tile, causal, name)


def swept() -> Iterator[tuple[tuple[int, int, int, int], int, int, float]]:
    """Every small length in tiles of many sizes, then every small head size.

    Yields:
        (B, H, N, D), T of the forward, a T for the backward, and what scores are multiplied by.
    """
    for length in range(2, 41):
        turn = length + length // len(_TILES)
        tile, back = _TILES[length % len(_TILES)], _TILES[(turn + 3) % len(_TILES)]
        yield (1, 1, length, 4), tile, back, _SPREADS[turn % len(_SPREADS)]
    for width in _WIDTHS:
        yield (1, 1, 9, width), 4, 4, 1.0
