"""Which keys rows see, by weights that are right among themselves: a mask that is off, or tiles left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.blocks import every_so_many, newest_alone, wrong_blocks
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.weights import Read, alike

__all__ = ["counts_told", "wrong_keys"]

_Places = npt.NDArray[np.intp]
#: How often row r counts key c; of r, c, T and N.
_Count = Callable[[_Places, _Places, int, int], npt.NDArray[Any]]
#: Weights below this share of a row's largest are none.
_NOTHING = 1e-12
#: How far a count may be from a whole number.
_WHOLE = 1e-5
_MOST_TIMES = 9


def wrong_keys(read: Sequence[Read]) -> str:
    """Rows whose weights are right but for which keys they count, and how often, as a clause.

    Args:
        read: Weights of wrong answers.
    """
    counts = [_counts(each) for each in read]
    told = [count for count in counts if count is not None]
    if len(told) < len(read) or not told:
        return ""
    cases = [each.case for each in read]
    few = _named(cases, told, _sets(cases)) or wrong_blocks(cases, told) or every_so_many(cases, told)
    few = few or newest_alone(cases, told)
    return few or f"weights are right but for which keys count: {_by_example(cases[0], told[0])}"


def counts_told(
    cases: Sequence[Case], counts: Sequence[npt.NDArray[np.int64]], *, example: bool = True
) -> str:
    """Pairs of a row and a key that count as often as they should not, as a clause.

    Args:
        cases: What was called, with the tile that counts.
        counts: How often each row counts each key (N, N); below 0 where that is unknown.
        example: Whether the first row is told where no rule fits all.

    Returns:
        Empty where all count as they should.
    """
    if all(_fits(count, _seen(case)) for case, count in zip(cases, counts, strict=True)):
        return ""
    sets = {words: count for words, count in _sets(cases).items() if "written" not in words}
    return (
        _named(cases, counts, {_OWN: _LEFT_OUT[_OWN], **_QUERIES, **sets})
        or wrong_blocks(cases, counts)
        or (_by_example(cases[0], counts[0]) if example else "")
    )


def _named(cases: Sequence[Case], counts: Sequence[npt.NDArray[np.int64]], sets: Mapping[str, _Count]) -> str:
    for words, wanted in sets.items():
        if all(_fits(count, _wanted(case, wanted)) for case, count in zip(cases, counts, strict=True)):
            return words
    return ""


def _fits(count: npt.NDArray[np.int64], wanted: npt.NDArray[Any]) -> bool:
    """Whether counts are these; what is unknown is below 0."""
    return bool(np.all((count < 0) | (count == wanted)))


def _seen(case: Case) -> npt.NDArray[np.bool_]:
    length = case.q.shape[2]
    return np.tri(length, dtype=bool) | (not case.causal)


def _counts(read: Read) -> npt.NDArray[np.int64] | None:
    """How often each row counts each key (N, N), in every head alike; ``None`` where weights are odd."""
    top = read.made.max(axis=-1, keepdims=True)
    empty = top <= 0
    counted = read.made > _NOTHING * np.where(empty, 1.0, top)
    share = np.where(
        counted, read.made / np.exp(read.scores - read.scores.max(axis=-1, keepdims=True)), np.nan
    )
    if np.all(empty):
        return None
    share /= np.where(empty, 1.0, np.nanmin(np.where(empty, 1.0, share), axis=-1, keepdims=True))
    times = np.where(counted, np.round(np.nan_to_num(share)), 0.0)
    off = np.where(counted, np.abs(share - times), 0.0)
    if off.max() > _WHOLE * _MOST_TIMES or times.max() > _MOST_TIMES or (times != times[:1, :1]).any():
        return None
    weights = times * np.exp(read.scores - read.scores.max(axis=-1, keepdims=True))
    total = weights.sum(axis=-1, keepdims=True)
    found = times[0, 0].astype(np.int64)
    right = np.array_equal(found, read.seen.astype(np.int64))
    return found if not right and alike(read.made, weights / np.where(total > 0, total, 1.0)) else None


def _wanted(case: Case, count: _Count) -> npt.NDArray[np.int64]:
    n, t = case.q.shape[2], case.tile
    r, c = np.broadcast_arrays(np.arange(n)[:, None], np.arange(n)[None, :])
    if count in _VISITED:
        r = r // t if case.causal else np.full_like(r, (n - 1) // t)
    given = np.asarray(count(r, c, t, n)).astype(np.int64)
    return np.asarray(given * _seen(case) if count in _MASKED else given)


def _whole(n: int, t: int) -> int:
    """Where the last tile begins that is not whole, or N."""
    return n // t * t


def _start(n: int, t: int) -> int:
    """Where the last tile begins, whole or not."""
    return (n - 1) // t * t


def _pulled(c: _Places, t: int, n: int) -> npt.NDArray[np.bool_]:
    """Keys before a last tile that is not whole, as many as it lacks."""
    return np.asarray((c >= n - t) & (c < _whole(n, t)) & (n > t) & (n % t > 0))


_PULLED = "a last tile that is not whole takes in keys of the one before (pulled back, or left in its buffer)"
#: Which keys are counted, of the last tile of keys that a row visits, c, T and N; under the mask.
_OF_VISITED: Mapping[str, _Count] = {
    "of the tiles of keys that a row visits the last alone counts": lambda v, c, t, n: c // t == v,
    "the last tile of keys that a row visits is left out": lambda v, c, t, n: (c // t != v) | (v == 0),
    "the last two tiles of keys that a row visits alone count": lambda v, c, t, n: c // t >= v - 1,
    "keys of the last tile that a row visits count twice": lambda v, c, t, n: 1 + (c // t == v),
    f"{_PULLED}, which count twice": lambda v, c, t, n: 1 + (_pulled(c, t, n) & (v == (n - 1) // t)),
}
_OWN = "every tile of rows sees its own tile of keys alone"
#: Which keys are seen among those that the mask leaves.
_LEFT_OUT: Mapping[str, _Count] = {
    "later keys are hidden without the mask as well": lambda r, c, t, n: c <= r,
    "keys behind the last whole tile are never read": lambda r, c, t, n: c < _whole(n, t),
    "the last tile of keys is never read": lambda r, c, t, n: c < _start(n, t),
    "the first tile of keys is left out": lambda r, c, t, n: c >= t,
    "the first tile of keys alone is read": lambda r, c, t, n: c < t,
    "of the key tiles the last alone counts": lambda r, c, t, n: c >= _start(n, t),
    "the first tile of keys is left out, but in the first tile of rows": lambda r, c, t, n: (
        (c >= t) | (r < t)
    ),
    "the tile on the diagonal is left out": lambda r, c, t, n: c // t != r // t,
    "the tile on the diagonal is left out, but in the first tile of rows": lambda r, c, t, n: (
        (c // t != r // t) | (r < t)
    ),
    "every row gives its own value back": lambda r, c, t, n: c == r,
    _OWN: lambda r, c, t, n: c // t == r // t,
    "every tile of rows sees its own tile of keys and the one before alone": lambda r, c, t, n: (
        (c // t == r // t) | (c // t == r // t - 1)
    ),
    "the last key is left out": lambda r, c, t, n: c < n - 1,
    "the first key is left out": lambda r, c, t, n: c > 0,
    "the last key of every tile is left out": lambda r, c, t, n: (c % t != t - 1) & (c < n),
    "the last key of every tile, whole or not, is left out": lambda r, c, t, n: (
        (c % t != t - 1) & (c < n - 1)
    ),
    "the first key of every tile is left out": lambda r, c, t, n: c % t != 0,
    "every second tile of keys is left out": lambda r, c, t, n: c // t % 2 == 0,
    "rows behind the last whole tile are never written": lambda r, c, t, n: r < _whole(n, t),
    "rows of the last tile are never written": lambda r, c, t, n: r < _start(n, t),
    "rows of the first tile alone are written": lambda r, c, t, n: r < t,
    "the last row is never written": lambda r, c, t, n: r < n - 1,
    "rows and keys behind the last whole tile are left out": lambda r, c, t, n: (
        (c < _whole(n, t)) & (r < _whole(n, t))
    ),
    f"{_PULLED}, which count twice without the mask": lambda r, c, t, n: 1 + _pulled(c, t, n),
    "keys of the first tile count twice": lambda r, c, t, n: 1 + (c < t),
    "keys of the last tile count twice": lambda r, c, t, n: 1 + (c >= _start(n, t)),
    "keys of the tile on the diagonal count twice": lambda r, c, t, n: 1 + (c // t == r // t),
}
#: Those that take the place of the mask: causal rows that see other keys than they should.
_INSTEAD: Mapping[str, _Count] = {
    "nothing is masked, every row sees all keys": lambda r, c, t, n: c < n,
    "the tile on the diagonal is not masked": lambda r, c, t, n: c // t <= r // t,
    "row i sees keys up to i + 1, one too many": lambda r, c, t, n: c <= r + 1,
    "row i sees keys up to i + 1 within its tile, one too many": lambda r, c, t, n: (
        (c <= r + 1) & (c // t <= r // t)
    ),
    "row i sees keys up to i - 1: the diagonal is hidden": lambda r, c, t, n: c < r,
    "row i sees keys from i on: the mask is turned round": lambda r, c, t, n: c >= r,
    "row i sees keys from i + 1 on: hidden and seen are exchanged": lambda r, c, t, n: c > r,
    "the mask is turned round in the tiles up to the diagonal": lambda r, c, t, n: (
        (c >= r) & (c // t <= r // t)
    ),
    "hidden and seen are exchanged in the tiles up to the diagonal": lambda r, c, t, n: (
        (c > r) & (c // t <= r // t)
    ),
    "the mask is made from places within a tile, in every tile": lambda r, c, t, n: c % t <= r % t,
    "the mask is made from places within a tile, in the tiles up to the diagonal": lambda r, c, t, n: (
        (c % t <= r % t) & (c // t <= r // t)
    ),
    "the mask takes places of keys within their tile": lambda r, c, t, n: c % t <= r,
    "the mask takes places of keys within their tile, in the tiles up to the diagonal": lambda r, c, t, n: (
        (c % t <= r) & (c // t <= r // t)
    ),
    "the mask takes places of queries within their tile": lambda r, c, t, n: c <= r % t,
    "row i sees keys up to i + as many as the last tile lacks": lambda r, c, t, n: (
        (c <= r + -n % t) & (c // t <= r // t)
    ),
    "every row of a tile has the mask of the tile's first row": lambda r, c, t, n: c <= r // t * t,
    "every row of a tile has the mask of the row before the tile": lambda r, c, t, n: c < r // t * t,
    "the last tile of keys is not masked": lambda r, c, t, n: (c <= r) | (c >= _start(n, t)),
    "rows of the last tile are not masked": lambda r, c, t, n: (c <= r) | (r >= _start(n, t)),
    "a last tile that is not whole is not masked": lambda r, c, t, n: (
        (c <= r) | ((r >= _whole(n, t)) & (c < n))
    ),
    "the tile behind the diagonal is not masked": lambda r, c, t, n: (c <= r) | (c // t == r // t + 1),
    "every row sees the first key tile whole": lambda r, c, t, n: (c <= r) | (c < t),
    "row i sees keys up to i + T": lambda r, c, t, n: c <= r + t,
    "row i sees keys up to i - T": lambda r, c, t, n: c <= r - t,
    "the first tile alone is masked": lambda r, c, t, n: (c <= r) | (r >= t),
}
_VISITED = frozenset(_OF_VISITED.values())
#: Which rows count, for gradients, whose sums run over them.
_QUERIES: Mapping[str, _Count] = {
    "queries behind the last whole tile are left out": lambda r, c, t, n: r < _whole(n, t),
    "queries of the last tile are left out": lambda r, c, t, n: r < _start(n, t),
    "queries of the first tile are left out": lambda r, c, t, n: r >= t,
    "of the tiles of queries the last alone counts": lambda r, c, t, n: r >= _start(n, t),
    "of the tiles of queries the first alone counts": lambda r, c, t, n: r < t,
    "of the tiles of queries that see a key the first alone counts": lambda r, c, t, n: r // t == c // t,
    "the last query is left out": lambda r, c, t, n: r < n - 1,
    "the first query is left out": lambda r, c, t, n: r > 0,
    "queries of the last tile count twice": lambda r, c, t, n: 1 + (r >= _start(n, t)),
    "queries of the first tile count twice": lambda r, c, t, n: 1 + (r < t),
}
_MASKED = _VISITED | frozenset(_LEFT_OUT.values()) | frozenset(_QUERIES.values())
#: Where no mask is asked for, and the walk over tiles is that of one.
_UNASKED: Mapping[str, _Count] = {
    "pairs of tiles beyond the diagonal are left out without the mask as well": lambda r, c, t, n: (
        c // t <= r // t
    ),
    "pairs of tiles on the near side of the diagonal are left out": lambda r, c, t, n: c // t >= r // t,
    "earlier keys are hidden, and no mask is asked for": lambda r, c, t, n: c >= r,
    "every tile of rows sees its own tile of keys and its neighbours alone": lambda r, c, t, n: (
        abs(c // t - r // t) <= 1
    ),
}


def _sets(cases: Sequence[Case]) -> Mapping[str, _Count]:
    """The sets of keys that mistakes leave, in the words for calls with a mask or without."""
    if any(case.causal for case in cases):
        return {**_LEFT_OUT, **_OF_VISITED, **_INSTEAD}
    masked = {f"{words}, and no mask is asked for": count for words, count in _INSTEAD.items()}
    return {**_LEFT_OUT, **_OF_VISITED, **_UNASKED, **masked}


def _by_example(case: Case, count: npt.NDArray[np.int64]) -> str:
    """The first row that sees other keys than it should."""
    seen = _seen(case)
    count = np.where(count < 0, seen, count)
    row = int(np.argmax((count != seen).any(axis=-1)))
    few = f"row {row} of N = {case.q.shape[2]}, T = {case.tile}{', causal,' if case.causal else ''}"
    missing = np.flatnonzero(seen[row] & (count[row] == 0))
    if len(missing) == seen[row].sum():
        return f"{few} is 0: no key reaches it"
    clauses = (
        ("leaves out", missing),
        ("sees beyond the mask", np.flatnonzero(~seen[row] & (count[row] > 0))),
        ("counts more than once", np.flatnonzero(seen[row] & (count[row] > 1))),
    )
    told = " and ".join(f"{what} {_keys(keys)}" for what, keys in clauses if len(keys))
    return f"{few} {told}"


def _keys(keys: npt.NDArray[np.intp]) -> str:
    if len(keys) == 1:
        return f"key {keys[0]}"
    if len(keys) == keys[-1] - keys[0] + 1:
        return f"keys {keys[0]} to {keys[-1]}"
    return f"{len(keys)} keys from {keys[0]} to {keys[-1]}"
