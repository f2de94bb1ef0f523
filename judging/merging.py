"""Two versions of a scorecard, or of a matchup, made one: what was changed on either side.

A version is taken apart into what a judge says in it, each by its key. Only what both have changed, and
differently, is a clash, which somebody has to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

__all__ = ["Key", "Merged", "Parts", "Side", "merged"]

Value = TypeVar("Value")
#: What is said, as ``("score", "correctness")`` or ``("note", "1f")``.
Key = tuple[str, ...]
Side = Literal["ours", "theirs"]


def _equal(key: Key, one: Any, other: Any) -> bool:
    return bool(one == other)


class Parts(Struct, Generic[Value], frozen=True):
    """How a kind of document is taken apart and put together.

    Attributes:
        keys: What any of some versions says, in the order of putting together.
        said: What a version says under a key; ``None`` for nothing.
        put: A version that says something else under a key.
        same: Whether two of what is said under a key are the same word.
    """

    keys: Callable[[Iterable[Value]], Iterable[Key]]
    said: Callable[[Value, Key], Any]
    put: Callable[[Value, Key, Any], Value]
    same: Callable[[Key, Any, Any], bool] = _equal


class Merged(Struct, Generic[Value], frozen=True):
    """Two versions in one.

    Attributes:
        value: What they say together; of a clash that nobody has decided, what stands here.
        clashes: What both have changed, and differently, whether that is decided or not.
    """

    value: Value
    clashes: tuple[Key, ...]


def merged(
    parts: Parts[Value],
    base: Value | None,
    ours: Value,
    theirs: Value,
    chosen: Mapping[Key, Side] | None = None,
) -> Merged[Value]:
    """Two versions in one.

    Args:
        parts: How they are taken apart.
        base: What both began with; ``None`` where nobody knows: then what one of them lacks, the other has
            added.
        ours: The version here.
        theirs: The version there; what is no part is taken from it.
        chosen: Whose word counts where both have changed the same; ours by default.
    """
    value, clashes = theirs, list[Key]()
    for key in parts.keys([v for v in (theirs, ours, base) if v is not None]):
        here, there = parts.said(ours, key), parts.said(theirs, key)
        if parts.same(key, here, there):
            continue
        began = None if base is None else parts.said(base, key)
        if here == began if base is None else parts.same(key, here, began):
            continue
        if not (there == began if base is None else parts.same(key, there, began)):
            clashes.append(key)
            if chosen is not None and chosen.get(key) == "theirs":
                continue
        value = parts.put(value, key, here)
    return Merged(value, tuple(clashes))
