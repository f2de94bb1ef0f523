"""Words of the sentences that users read."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["counted", "did_you_mean"]

_MOST = 24


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The hint for a name that something has not: the nearest ones that it has, else all of them."""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(word, names, n=2)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"It has: {', '.join(names[:_MOST])}{', …' if len(names) > _MOST else ''}."
