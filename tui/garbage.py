"""Garbage is collected while nobody types.

A collection of all that is young takes 25 ms where much is on the screen, and one of everything several times
as long: in the middle of a key that is held, each is felt.
"""

from __future__ import annotations

import gc

__all__ = ["begin", "tidy"]

#: New objects between two collections of the newest ones, which take a millisecond or two; and of these
#: before one of all that is young begins by itself.
_NEWEST, _NEVER = 10_000, 1_000
#: Such collections after which the young are collected, and collections of the young after which all is.
_YOUNG, _OLD = 2, 40


class _Since:
    """Collections since the last one of everything."""

    young = 0


def begin() -> None:
    """What is alive now stays, and need not be looked at; what comes is collected by :func:`tidy`."""
    gc.freeze()
    gc.set_threshold(_NEWEST, _NEVER, _NEVER)


def tidy(*, long: bool) -> None:
    """Collect what has become garbage, where that is due.

    Args:
        long: Whether there is time for everything, as where nobody has typed for seconds.
    """
    if gc.get_count()[1] >= _YOUNG:
        gc.collect(1)
        _Since.young += 1
    elif long and _Since.young >= _OLD:
        gc.collect()
        _Since.young = 0
