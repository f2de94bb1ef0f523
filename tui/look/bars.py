"""Scores as bars and levels; where a terminal has no signs for these, by signs that every one has."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache

__all__ = ["bar", "level", "levels", "plain_characters", "score_tone"]

#: Lowest points → tone; what is below all of them is an error's.
_TONES = ((85, "success"), (70, "primary"), (55, "warning"))
_LEVELS = "▁▂▃▄▅▆▇█"
_PLAIN_LEVELS = "._-=+*#@"
#: Terminals whose fonts have little beside letters: the console of Linux, and what is older.
_BARE = ("linux", "vt", "dumb", "cons", "ansi")


@cache
def plain_characters() -> bool:
    """Whether the terminal has no blocks and dots, by what the environment says of it."""
    if os.environ.get("TERM", "").startswith(_BARE):
        return True
    said = next((os.environ[n] for n in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(n)), "")
    # C and POSIX say nothing of the terminal
    charset = said.partition(".")[2].partition("@")[0].lower().replace("-", "")
    return bool(charset) and charset != "utf8"


def bar(share: float, width: int) -> str:
    """A bar of so many columns, filled to a share of 0…1."""
    whole, half = ("=", "-") if plain_characters() else ("━", "╸")
    # a line, since blocks of rows below each other would run together
    halves = round(min(max(share, 0.0), 1.0) * width * 2)
    return f"{whole * (halves // 2) + half * (halves % 2):<{width}}"


def level(share: float) -> str:
    """One character as high as a share of 0…1."""
    signs = _PLAIN_LEVELS if plain_characters() else _LEVELS
    return signs[min(int(min(max(share, 0.0), 1.0) * len(signs)), len(signs) - 1)]


def levels(points: Iterable[float | None]) -> str:
    """Points of 0…100 beside each other, a character each; a dot where there are none."""
    return "".join("·" if each is None else level(each / 100) for each in points)


def score_tone(points: float) -> str:
    """The tone of points of 0…100; the figure stands beside it: a colour tells nothing alone."""
    return next((tone for least, tone in _TONES if points >= least), "error")
