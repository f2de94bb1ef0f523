"""Which mistake a matrix of wrong weights is, as a clause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.filled import filled_keys
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.scales import scale_told
from judge_tui.checks.tasks.flash_attention.seen_keys import wrong_keys
from judge_tui.checks.tasks.flash_attention.slopes import wrong_slopes
from judge_tui.checks.tasks.flash_attention.streams import wrong_stream
from judge_tui.checks.tasks.flash_attention.sums import wrong_sum
from judge_tui.checks.tasks.flash_attention.weights import Read, alike, softmax

__all__ = ["mistake", "outline"]

_Given = Callable[[Read], Array]
#: Where a tile of keys begins instead, and which row stands where; see _ELSEWHERE and _ROWS.
_Index = Callable[[int, int, int, int], int]
_Rows = Callable[[int, int], npt.NDArray[np.intp]]
#: Logarithms of weights are this straight in the scores where these are scaled wrongly.
_STRAIGHT = 1e-6
#: What scores may be capped at.
_CAPS = (1, 2, 5, 10, 15, 20, 30, 50)
#: Weights below this share of a row's largest say nothing of a slope.
_TOLD = 1e-9


def mistake(read: Sequence[Read]) -> str:
    """The mistake that gives all weights, as a clause; empty where none of the known ones does.

    Args:
        read: Of wrong answers.
    """
    if not read:
        return ""
    if not any(each.made.any() for each in read):
        return "O is 0 whatever it is given"
    with np.errstate(all="ignore"):
        for words, gives in _named():
            if all(alike(gives(each), each.made) for each in read):
                return words
        ways = (wrong_scale, wrong_keys, wrong_stream, wrong_sum, filled_keys, wrong_slopes)
        return next(filter(None, (way(read) for way in ways)), "")


def outline(read: Sequence[Read]) -> str:
    """What can be said of weights whose mistake has no name: what rows of them add up to."""
    sums = np.concatenate([each.made.sum(axis=-1)[each.wrong] for each in read]) if read else np.ones(1)
    least, most = float(sums.min()), float(sums.max())
    if most - least <= 1e-6 * max(1.0, abs(most)):
        return "" if abs(most - 1.0) <= 1e-6 else f"weights of a row add up to {most:.3g}, not to 1"
    return f"weights of wrong rows add up to {least:.2g} to {most:.2g}, not to 1"


def wrong_scale(read: Sequence[Read]) -> str:
    """Scores that are scaled by another number than 1/√D: weights are exponential in them all the same."""
    slopes = [_slope(each) for each in read]
    if any(slope is None or abs(slope - 1.0) <= _STRAIGHT for slope in slopes):
        return ""
    return scale_told([slope for slope in slopes if slope is not None], [each.case.sizes for each in read])


def _slope(read: Read) -> float | None:
    """What multiplies the scores of every row; ``None`` where that is no single number."""
    if not alike(np.where(read.seen, read.made, 0.0), read.made) or not np.allclose(read.made.sum(-1), 1.0):
        return None
    if (read.made[read.seen & (read.right > _TOLD)] == 0).any():
        return None
    told = read.seen & (read.made > _TOLD * read.made.max(axis=-1, keepdims=True))
    made = np.where(told, np.log(np.where(told, read.made, 1.0)), 0.0)
    count = told.sum(axis=-1, keepdims=True)
    scores, logs = (np.where(told, a - np.where(told, a, 0).sum(-1, keepdims=True) / count, 0.0)
                    for a in (read.scores, made))  # fmt: skip
    slope = float((scores * logs).sum() / (scores * scores).sum())
    return slope if np.abs(logs - slope * scores).max() <= _STRAIGHT * max(1.0, np.abs(logs).max()) else None


def _named() -> Iterator[tuple[str, _Given]]:
    """Mistakes without a parameter: in words, and the weights that they give."""
    hidden = "hidden keys of visited tiles get the score 0, not -inf"
    yield hidden, lambda r: softmax(np.where(r.seen, r.scores, 0.0), visited(r))
    hidden = "hidden keys get the score 0, not -inf"
    yield hidden, lambda r: softmax(np.where(r.seen, r.scores, 0.0))
    for where, index in _ELSEWHERE.items():
        yield f"V is taken from the {where}", partial(_moved_values, index)
        yield f"K is taken from the {where}", partial(_moved_keys, index)
    yield (
        "the tile behind is written over V before a tile of it is used",
        partial(_moved_values, _ELSEWHERE["tile behind"], ragged=True),
    )
    yield (
        "the tile behind is written over K before a tile of it is used",
        partial(_moved_keys, _ELSEWHERE["tile behind"], ragged=True),
    )
    for what, other in _ROWS.items():
        yield f"rows of O hold what belongs to {what}", partial(_moved_rows, other)
    for most in _CAPS:
        yield f"scores are capped: {most} · tanh(S / {most})", partial(_capped, most)
        yield f"scores are cut off at ±{most}", partial(_cut_off, most)
    yield "scores enter by their magnitude", lambda r: softmax(np.abs(r.scores), r.seen)
    yield "negative scores are cut off at 0", lambda r: softmax(np.maximum(r.scores, 0.0), r.seen)
    yield (
        "scores are Q and K of each other's place: Kᵢ·Qⱼ",
        lambda r: softmax(r.scores.swapaxes(-1, -2), r.seen),
    )
    yield "every tile's scores are transposed", _transposed_tiles
    yield "softmax runs over queries, not over keys", _over_queries


def _capped(most: float, read: Read) -> Array:
    return softmax(most * np.tanh(read.scores / most), read.seen)


def _cut_off(most: float, read: Read) -> Array:
    return softmax(np.clip(read.scores, -most, most), read.seen)


def visited(read: Read) -> npt.NDArray[np.bool_]:
    """(N, N), the pairs of tiles that reach the diagonal, or all where nothing is masked."""
    tile = np.arange(read.length) // read.case.tile
    return np.asarray((tile[None, :] <= tile[:, None]) | (not read.case.causal))


#: Where a tile of keys may be taken from in place of its own → its first place; of its start, the row tile's
#: start, T and N.
_ELSEWHERE: Mapping[str, _Index] = {
    "first tile": lambda key, row, tile, length: 0,
    "tile before": lambda key, row, tile, length: max(key - tile, 0),
    "tile behind": lambda key, row, tile, length: key + tile,
    "query's own tile": lambda key, row, tile, length: row,
    "place one further": lambda key, row, tile, length: key + 1,
    "tile of the same place in the sequence read backwards": lambda key, row, tile, length: (
        length - key - tile
    ),
}


def _places(read: Read, index: _Index, ragged: bool) -> npt.NDArray[np.intp]:
    """(N, N), where row i finds key j; a tile that is not whole there stays, or as much as it lacks."""
    length, tile = read.length, read.case.tile
    found = np.tile(np.arange(length), (length, 1))
    for row in range(0, length, tile):
        for key in range(0, length, tile):
            stop = min(key + tile, length)
            start = index(key, row, tile, length)
            if ragged and not _visits(read, row, start):
                continue
            if start >= 0 and start + stop - key <= length:
                found[row : row + tile, key:stop] = np.arange(start, start + stop - key)
            elif ragged and start < length and _visits(read, row, start):
                found[row : row + tile, key : key + length - start] = np.arange(start, length)
    return found


def _visits(read: Read, row: int, key: int) -> bool:
    """Whether a tile of rows visits the tile of keys that begins at one."""
    return not read.case.causal or key < row + read.case.tile


def _moved_values(index: _Index, read: Read, *, ragged: bool = False) -> Array:
    places = _places(read, index, ragged)
    given = np.zeros_like(read.right)
    for row in range(read.length):
        for key in range(read.length):
            given[:, :, row, places[row, key]] += read.right[:, :, row, key]
    return given


def _moved_keys(index: _Index, read: Read, *, ragged: bool = False) -> Array:
    places = _places(read, index, ragged)
    scores = np.take_along_axis(read.scores, np.broadcast_to(places, read.scores.shape), axis=-1)
    return softmax(scores, read.seen)


def _moved_rows(other: _Rows, read: Read) -> Array:
    return np.asarray(read.right[:, :, other(read.length, read.case.tile)])


def _tiles_backwards(length: int, tile: int) -> npt.NDArray[np.intp]:
    starts = reversed(range(0, length, tile))
    return np.concatenate([np.arange(start, min(start + tile, length)) for start in starts])


_ROWS: Mapping[str, _Rows] = {
    "the row before": lambda n, t: np.roll(np.arange(n), 1),
    "the row behind": lambda n, t: np.roll(np.arange(n), -1),
    "the row counted from the end": lambda n, t: np.arange(n)[::-1],
    "the row of the tile before": lambda n, t: np.roll(np.arange(n), t),
    "the row of the tile behind": lambda n, t: np.roll(np.arange(n), -t),
    "a row of the tiles read backwards": _tiles_backwards,
    "the first row of their tile": lambda n, t: np.arange(n) // t * t,
    "the same row of the first tile": lambda n, t: np.arange(n) % t,
}


def _transposed_tiles(read: Read) -> Array:
    scores, tile = read.scores.copy(), read.case.tile
    for row in range(0, read.length, tile):
        for key in range(0, read.length, tile):
            part = scores[:, :, row : row + tile, key : key + tile]
            if part.shape[2] == part.shape[3]:
                part[...] = part.swapaxes(-1, -2).copy()
    return softmax(scores, read.seen)


def _over_queries(read: Read) -> Array:
    scores = np.where(read.seen, read.scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-2, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-2, keepdims=True))
