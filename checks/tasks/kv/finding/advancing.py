"""What moves a cache's length on, where appending does not: candidates, and what the cache itself counts.

A cache of several layers may write at one position in every layer and move it once, by a call of its own.
What such a call is told, one number or one per sequence, and when it is due, trials settle
(:mod:`.combinations`). Here stands what the cache's own whole numbers show of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.faces.cached import TICKS, Cached
from judge_tui.checks.tasks.kv.faces.leaves import roots, whole_numbers
from judge_tui.checks.tasks.kv.finding import movers
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["miscounts", "moved_elsewhere", "ticks"]

Numbers = dict[tuple[Any, ...], npt.NDArray[np.int64]]
_BUDGET = 8.0
#: Candidates that are tried.
_MOST = 3
_ADVANCE = roles.BY_NAME["advance"]
#: The same for a parameter that no name tells.
_COUNTED = replace(_ADVANCE, params=tuple(replace(p, required=p.name == "count") for p in _ADVANCE.params))
#: A cache that is told where to write keeps no length of its own that would have to move.
_PLACES = ("position", "positions", "totals", "length")


def ticks(search: Search, owner: Owner | None) -> list[Binding]:
    """Calls that may tell a cache that a step is over, told a number as they are named, then otherwise.

    Args:
        search: Where is looked.
        owner: The cache; its methods may do it.
    """
    named = matched(search, _ADVANCE, owner=owner, stateful=True)
    known = {binding.target for binding in named}
    unnamed = matched(search, _COUNTED, owner=owner, stateful=True)
    options = [*named, *(binding for binding in unnamed if binding.target not in known)][:_MOST]
    return [*options, *(other for option in options for other in _told_otherwise(option))]


def _told_otherwise(tick: Binding) -> Iterator[Binding]:
    """The same, told one number for all where it was told one per sequence, or the other way round."""
    pair = ("count", "lengths")
    for old, new in (pair, pair[::-1]):
        if tick.takes(old) and not tick.takes(new):
            yield tick.handed(**{old: new})


def miscounts(search: Search, bound: Option, tokens: int = 1) -> bool:
    """Whether a call that advances a cache moves what the cache counts by another number than it is told.

    Args:
        search: Whose cache it is.
        bound: Role → binding; one of them advances.
        tokens: That are fed, and told.

    Returns:
        ``False`` where it moves something by the right number, and where nothing can be seen.
    """
    told = [bound[name] for name in TICKS if name in bound]
    if not told or (tokens > 1 and not any(t.takes("count") or t.takes("lengths") for t in told)):
        # What is told no number may move by one token, or by all that are pending.
        return False
    with search.guess():
        cached = _stored(search, bound, tokens)
        before, shapes = _seen(cached)
        cached.bound = bound
        cached.advance(np.full(cached.sizes.batch, tokens))
        after, others = _seen(cached)
        if not before or before.keys() != after.keys() or shapes != others:
            return False
        moves = [after[path] - before[path] for path in before if after[path].shape == before[path].shape]
        return bool(moves) and not any(bool(np.any(m)) and set(np.unique(m)) <= {0, tokens} for m in moves)
    return False


def moved_elsewhere(search: Search, bound: Option) -> str:
    """Why a cache that answers wrongly may only have been misused: its length has to be moved by something.

    Args:
        search: Whose cache it is.
        bound: Role → binding, without anything that advances the cache.

    Returns:
        What was seen; empty where appending moves what the cache counts, where the cache counts nothing, and
        where nothing in the source moves it: then appending is all that there is.
    """
    append = bound.get("append") or bound.get("append_many") or bound.get("step")
    if append is None or set(TICKS) & set(bound) or any(append.takes(name) for name in _PLACES):
        return ""
    still: list[str] = []
    with search.guess():
        still = _stays(search, bound)
    found = next(movers.adding(search.worker.submission, still), None)
    if found is None:
        return ""
    leaves = f"{append.target} leaves '{found[0]}' as it was"
    return f"{leaves}; {found[1]} moves it, and how that is called is not found"


def _stored(search: Search, bound: Option, tokens: int) -> Cached:
    """A cache that was fed, and neither advanced nor asked."""
    parts: Option = {n: bound[n] for n in ("create", "add", "append", "append_many", "step") if n in bound}
    sizes = Sizes(2, 3, 32, 8)
    cached = Cached(search.worker, parts, sizes, lambda: _BUDGET)
    cached.feed(*drawn(np.random.default_rng(22), cached.sizes, tokens))
    return cached


def _stays(search: Search, bound: Option) -> list[str]:
    """Names of whole numbers of a cache when two tokens that go in change none of them, nor any shape."""
    (before, shapes), (after, others) = (_seen(_stored(search, bound, tokens)) for tokens in (0, 2))
    if not before or before.keys() != after.keys() or shapes != others:
        return []
    if any(not np.array_equal(before[path], after[path]) for path in before):
        return []
    return [next((str(key) for _kind, key in reversed(path) if isinstance(key, str)), "") for path in before]


def _seen(cached: Cached) -> tuple[Numbers, list[Any]]:
    """The whole numbers that a cache keeps, by path, and the shapes of all that it does."""
    return whole_numbers(cached.worker, [root for state in cached.states for root in roots(state)])
