"""Which wrong sum rows of weights were divided by, where they are right but for a factor of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.streams import tiles_of
from judge_tui.checks.tasks.flash_attention.weights import Read, alike

__all__ = ["wrong_sum"]

_SAME = 1e-6
#: How much what is added to l may differ from row to row.
_ADDED = 1e-4
#: What a row's weights exp(S - m) are divided by in place of their sum l (B, H, N, 1).
_Given = Callable[[Read], Array]


def wrong_sum(read: Sequence[Read]) -> str:
    """Rows that are right but for a factor, with what it is where that can be proved, as a clause.

    Args:
        read: Weights of wrong answers.
    """
    factors = [_factor(each) for each in read]
    told = [factor for factor in factors if factor is not None]
    if len(told) < len(read) or not told:
        return ""
    constant = _constant(told)
    where = _where(read, told)
    spread = constant or f"a factor of each row, {_spread(told)}"
    plain = f"rows of O are right but for {spread}{where}: their weights do not add up to 1"
    if added := _added(read, told):
        return f"{plain}; l gets {added:.3g} added"
    for words, given in _SUMS.items():
        if all(_same(_total(each) / given(each), made) for each, made in zip(read, told, strict=True)):
            return f"{plain}; {words}"
    return plain


def _factor(read: Read) -> Array | None:
    """What multiplies each row (B, H, N, 1); ``None`` where rows are not right but for that."""
    factor = (read.made * read.right).sum(axis=-1, keepdims=True) / (read.right**2).sum(
        axis=-1, keepdims=True
    )
    fits = alike(read.made, factor * read.right) and not alike(read.made, read.right)
    return np.asarray(factor) if fits and (factor != 0).all() else None


def _added(read: Sequence[Read], factors: Sequence[Array]) -> float:
    """A number that is added to every l; 0 for none."""
    more = [_total(each) * (1 / factor - 1) for each, factor in zip(read, factors, strict=True)]
    values = np.concatenate([each.ravel() for each in more])
    return float(values[0]) if np.ptp(values) <= _ADDED * float(np.abs(values).max()) else 0.0


def _same(given: Array, made: Array) -> bool:
    return bool(np.all(np.abs(given - made) <= _SAME * np.abs(made)))


def _constant(factors: Sequence[Array]) -> str:
    values = np.concatenate([factor.ravel() for factor in factors])
    if np.ptp(values) > _SAME * float(np.abs(values).max()):
        return ""
    return f"the factor {values[0]:.4g}"


def _spread(factors: Sequence[Array]) -> str:
    values = np.concatenate([factor[np.abs(factor - 1.0) > _SAME] for factor in factors])
    return f"{values.min():.2g} to {values.max():.2g}"


def _where(read: Sequence[Read], factors: Sequence[Array]) -> str:
    """Which rows have one, where that has a name."""
    named: Mapping[str, Callable[[npt.NDArray[np.intp], int, int], npt.NDArray[np.bool_]]] = {
        " in the last tile of rows alone": lambda r, t, n: r >= (n - 1) // t * t,
        " in a last tile of rows that is not whole alone": lambda r, t, n: r >= n // t * t,
        " in all tiles of rows but the first": lambda r, t, n: r >= t,
        " in the first tile of rows alone": lambda r, t, n: r < t,
    }
    off = [np.abs(factor - 1.0).max(axis=(0, 1, 3)) > _SAME for factor in factors]
    if all(rows.all() for rows in off):
        return ""
    for words, wanted in named.items():
        given = [wanted(np.arange(each.length), each.case.tile, each.length) for each in read]
        if all(not rows[~may].any() and rows[may].mean() > 0.5 for rows, may in zip(off, given, strict=True)):
            return words
    return ""


def _top(read: Read) -> Array:
    return np.asarray(np.where(read.seen, read.scores, -np.inf).max(axis=-1, keepdims=True))


def _weights(read: Read, seen: npt.NDArray[np.bool_]) -> Array:
    """exp(S - m) of those pairs."""
    return np.where(seen, np.exp(read.scores - _top(read)), 0.0)


def _total(read: Read) -> Array:
    return np.asarray(_weights(read, read.seen).sum(axis=-1, keepdims=True))


def _missing(read: Read) -> int:
    """How many keys the last tile lacks."""
    return -read.length % read.case.tile


def _reaches(read: Read) -> npt.NDArray[np.bool_]:
    """(N, 1), rows that visit the last tile of keys."""
    return list(tiles_of(read))[-1][1]


def _beside(read: Read, of_stale: Callable[[Array, Array, Array], Array]) -> Array:
    """The sum and, for places past the last key, what is made of those a tile before: scores, m then, m now.

    Where the first tile is the last there is nothing before.
    """
    total, gap, tile = _total(read), _missing(read), read.case.tile
    if not gap or read.length <= tile:
        return total
    start = read.length // tile * tile
    stale = np.arange(start - gap, start)
    hidden = np.where(read.seen, read.scores, -np.inf)
    before = hidden[..., :start].max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        more = of_stale(hidden[..., stale], before, _top(read)).sum(axis=-1, keepdims=True)
    return np.where(_reaches(read), total + more, total)


def _visited(read: Read) -> npt.NDArray[np.bool_]:
    tile = np.arange(read.length) // read.case.tile
    return np.asarray(tile[None, :] <= tile[:, None])


def _of_tiles(
    which: Callable[[npt.NDArray[np.intp], npt.NDArray[np.intp], int], npt.NDArray[np.bool_]],
) -> _Given:
    """The sum over some tiles of keys alone."""

    def given(read: Read) -> Array:
        tile = np.arange(read.length) // read.case.tile
        last = (
            np.minimum(tile[:, None], tile[-1]) if read.case.causal else np.full_like(tile, tile[-1])[:, None]
        )
        seen = read.seen & which(tile[None, :], last, int(tile[-1]))
        return np.asarray(_weights(read, seen).sum(axis=-1, keepdims=True))

    return given


def _rolled(total: Array, by: int, tile: int) -> Array:
    starts = range(0, total.shape[2], tile)
    return np.concatenate(
        [np.roll(total[:, :, start : start + tile], by, axis=2) for start in starts], axis=2
    )


_LEFT = "what is left of the tile before, in places past the last key, counts in l"
_SUMS: Mapping[str, _Given] = {
    "O is not divided by l": lambda r: np.ones_like(_total(r)),
    "O is divided by l twice": lambda r: _total(r) ** 2,
    "exp(S) is taken without the maximum, and never divided by its sum": lambda r: np.exp(-_top(r)),
    "places past the last key count in l, with the score 0 of padding": lambda r: (
        _total(r) + np.where(_reaches(r), _missing(r) * np.exp(-_top(r)), 0.0)
    ),
    "places past the last key count in l, each as exp(0) = 1": lambda r: (
        _total(r) + np.where(_reaches(r), float(_missing(r)), 0.0)
    ),
    f"{_LEFT}: its scores, as exp(S - m)": lambda r: _beside(r, lambda s, _, m: np.exp(s - m)),
    f"{_LEFT}: its weights": lambda r: _beside(r, lambda s, before, _: np.exp(s - before)),
    f"{_LEFT}: its weights, once more as exp(weight - m)": lambda r: _beside(
        r, lambda s, before, m: np.exp(np.exp(s - before) - m)
    ),
    "hidden keys of the tiles that a row visits count in l": lambda r: _weights(r, _visited(r) | r.seen).sum(
        axis=-1, keepdims=True
    ),
    "hidden keys count in l": lambda r: _weights(r, np.ones_like(r.seen)).sum(axis=-1, keepdims=True),
    "l holds the last tile of keys alone": _of_tiles(lambda t, last, _: t == last),
    "l holds the first tile of keys alone": _of_tiles(lambda t, last, _: t == 0),
    "l lacks the last tile of keys that a row visits": _of_tiles(
        lambda t, last, _: (t != last) | (last == 0)
    ),
    "l lacks the first tile of keys": _of_tiles(lambda t, last, _: (t != 0) | (last == 0)),
    "the last tile of keys counts in l twice": lambda r: (
        _total(r) + _of_tiles(lambda t, last, _: t == last)(r)
    ),
    "the first tile of keys counts in l twice": lambda r: _total(r) + _of_tiles(lambda t, last, _: t == 0)(r),
    "every row is divided by the l of the row before in its tile": lambda r: _rolled(
        _total(r), 1, r.case.tile
    ),
    "every row is divided by the l of the row behind in its tile": lambda r: _rolled(
        _total(r), -1, r.case.tile
    ),
    "every row is divided by the l of its tile's first row": lambda r: _total(r)[
        :, :, np.arange(r.length) // r.case.tile * r.case.tile
    ],
    "every row is divided by the l of the row before": lambda r: np.roll(_total(r), 1, axis=2),
    "every row is divided by the l of the row behind": lambda r: np.roll(_total(r), -1, axis=2),
}
