"""Tiers of the tests: what a contributor runs, what CI runs, and what takes an evening.

``quick`` has all that is quick by itself, a mutant and a twin for each check, and the pictures of one size.
It leaves out what ``thorough.txt`` lists: test functions of which a case took :data:`LONG` seconds or more
when ``make tiers`` measured them. ``test`` is everything but campaigns, ``all`` everything, with every check
of every specimen, and properties tried on :data:`MORE` examples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

import pytest

__all__ = ["LONG", "MORE", "NAMES", "Tier", "function", "listed", "measured", "of", "sorted_out"]

Tier = Literal["quick", "test", "all"]
NAMES: tuple[str, ...] = get_args(Tier)
#: Seconds from which a test is not quick.
LONG = 0.4
#: Examples of a property in the tier ``all``.
MORE = 2000
LIST = Path(__file__).parent / "thorough.txt"


def of(config: pytest.Config) -> Tier:
    """The tier that this run is of."""
    tier: Tier = config.getoption("tier")
    return tier


def function(nodeid: str) -> str:
    """A test without its parameters and its group."""
    return nodeid.partition("[")[0].partition("@")[0]


def listed() -> frozenset[str]:
    """The test functions that are not quick."""
    return frozenset(LIST.read_text().split()) if LIST.exists() else frozenset()


def sorted_out(items: Iterable[pytest.Item], tier: Tier) -> list[pytest.Item]:
    """The tests that a tier leaves out."""
    if tier == "all":
        return []
    out = [item for item in items if item.get_closest_marker("campaign") is not None]
    if tier == "quick":
        long = listed()
        out += [
            item
            for item in items
            if item.get_closest_marker("thorough") is not None
            or (item.get_closest_marker("quick") is None and function(item.nodeid) in long)
        ]
    return out


def measured(seconds: Iterable[tuple[str, float]]) -> None:
    """Write down which functions are not quick.

    Args:
        seconds: Test and what it took, of a whole run.
    """
    slowest: defaultdict[str, float] = defaultdict(float)
    for nodeid, took in seconds:
        slowest[function(nodeid)] = max(slowest[function(nodeid)], took)
    LIST.write_text("".join(f"{name}\n" for name in sorted(slowest) if slowest[name] >= LONG))
