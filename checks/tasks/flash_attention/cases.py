"""Cases that a forward is called with: drawn inputs and how they are cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bfloat16 import Bfloat16
from judge_tui.checks.own_sizes import OwnSizes
from judge_tui.checks.remembered import Remembered
from judge_tui.checks.sizes import About, Range, Sizes
from judge_tui.checks.strides import HOWS, mixed
from judge_tui.checks.tasks.flash_attention.reference import Array, attention

__all__ = [
    "AXES",
    "MOST_ABOUT",
    "Case",
    "Shape",
    "about",
    "cuts",
    "drawn",
    "heads",
    "laid_out",
    "scores",
    "swept",
]

#: (B, H, N, D).
Shape = tuple[int, int, int, int]

#: Tiles that lengths are tried with in turn.
_TILES = (1, 2, 3, 4, 5, 7, 8, 16, 32)
#: Tiles that are larger than those about which code is written.
_LARGE_TILES = ((130, 200), (258, 290))
#: What scores are multiplied by, so that maxima rise between tiles by little and by much.
_SPREADS = (1.0, 4.0, 12.0, 30.0)
_WIDTHS = (*range(1, 18), 31, 32, 33, 64, 65)
#: Axes that an integer of the source may concern, and what they may be because of it.
AXES = {"D": (2, 4200), "N": (2, 2200), "H": (1, 300), "B": (1, 300), "T": (2, 520)}
MOST_ABOUT = 14
#: How names of cases begin whose numbers, or their order in memory, are special.
_SPECIAL = ("scores ", "hidden keys ", "in memory ", "one batch entry ")
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
    def sizes(self) -> dict[str, int]:
        """B, H, N, D and T, and how many tiles and how many heads in all that makes."""
        told = dict(zip("BHND", self.q.shape, strict=True)) | {"T": self.tile}
        return told | {"the number of tiles": -(-told["N"] // self.tile), "B · H": told["B"] * told["H"]}

    @property
    def plain(self) -> bool:
        """Whether nothing is special about its numbers, their order in memory or where its sizes are from."""
        return self.usual and not self.of_source

    @property
    def usual(self) -> bool:
        """Whether nothing is special about its numbers, or their order in memory."""
        return not self.name.startswith(_SPECIAL)

    @property
    def of_source(self) -> bool:
        """Whether its sizes are from the submission's own source."""
        return "which " in self.name

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


def laid_out(case: Case, turn: int, of: str = "") -> Case:
    """The same case with its arrays in three orders of memory that ``turn`` says; ``of``: why its sizes."""
    q, k, v = mixed(turn, case.q, case.k, case.v)
    orders = ", ".join(f"{name} {HOWS[(turn + place) % len(HOWS)]}" for place, name in enumerate("QKV"))
    return replace(case, q=q, k=k, v=v, name=f"in memory {orders}{of and f'; {of}'}")


def heads(sizes: Sizes, length: int | Range, width: int | Range = (2, 24)) -> Shape:
    """(B, H, N, D) of a few batch entries and heads."""
    n, d = (axis if isinstance(axis, int) else sizes.between(*axis) for axis in (length, width))
    return sizes.between(1, 3), sizes.between(1, 4), n, d


def cuts(sizes: Sizes) -> Iterator[tuple[Shape, int, str]]:
    """Lengths and tiles in every relation to each other, and each axis once large.

    Yields:
        (B, H, N, D), T and what is special.
    """
    yield (1, 1, 1, 2), 1, "N = T = 1"
    yield (1, 2, 150, 16), 64, "tiles of 64"
    tile = sizes.between(2, 12)
    yield heads(sizes, tile * sizes.between(2, 6)), tile, "even tiles"
    tile = 2 * sizes.between(1, 5)
    yield heads(sizes, tile * sizes.between(2, 6) + 1), tile, "last tile of one row"
    tile = 2 * sizes.between(1, 5) + 1
    yield heads(sizes, tile * sizes.between(2, 6) + 1), tile, "last tile of one row, odd T"
    tile = sizes.between(3, 14)
    yield heads(sizes, tile * sizes.between(1, 4) + sizes.between(2, tile - 1)), tile, "uneven tiles"
    length = sizes.between(2, 14)
    yield heads(sizes, length), length + sizes.between(1, 12), "T > N"
    yield heads(sizes, (2, 14)), 1, "T = 1"
    yield heads(sizes, 1), sizes.between(2, 8), "N = 1"
    tile = sizes.between(16, 40)
    yield (1, 1, tile * sizes.between(7, 10) + sizes.between(0, tile - 1), 8), tile, "many tiles"
    for _ in range(3):
        shape = heads(sizes, (1, 120))
        yield shape, max(sizes.between(1, 64), shape[2] // 16), "any sizes"
    large = sizes.each_large(
        ((1, 2), (1, 3), (2, 24), (2, 16)), ((5, 12), (6, 20), (340, 640), (66, 160))
    )  # fmt: skip
    for axis, (b, h, n, d) in zip("BHND", large, strict=True):
        yield (b, h, n, d), max(sizes.between(2, 64), n // 12), f"large {axis}"
    # more keys to a tile than 32 lanes of 4, or of 8, take at once
    for span in _LARGE_TILES:
        tile = sizes.between(*span)
        yield (1, 1, tile + sizes.between(3, 30), 16), tile, "large T"


def about(own: OwnSizes, sizes: Sizes) -> Iterator[tuple[About, Shape, int]]:
    """Axes at sizes that the submission's source names, the others small.

    Yields:
        The sizes, (B, H, N, D) and T.
    """

    def cut(one: About) -> tuple[Shape, int]:
        axes = {**few, **one.at}
        if "N" not in one.at:
            axes["N"] += one.at.get("T", 0)
        return (axes["B"], axes["H"], axes["N"], axes["D"]), axes.get("T") or max(tile, axes["N"] // 12)

    few, tile = {"B": 1, "H": 1, "N": sizes.between(3, 9), "D": sizes.between(2, 6)}, sizes.between(2, 64)
    for one in own.each(lambda one: scores(cut(one)[0])):
        yield one, *cut(one)


def scores(shape: Shape) -> int:
    """How many scores attention of a shape has."""
    batch, heads, length, _ = shape
    return batch * heads * length**2


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
