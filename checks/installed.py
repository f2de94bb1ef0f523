"""Which tasks are installed, by name; nothing is imported to find that out, NumPy neither."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from importlib import metadata

__all__ = ["GROUP", "Installed", "installed", "is_installed", "points", "task_names"]

GROUP = "judge_tui.tasks"
_OWN = "judge-tui"


class Installed(Struct, frozen=True):
    """A task that some distribution offers, imported or not.

    Attributes:
        name: Its id.
        distribution: Name and version of where it comes from.
        point: Where it is imported from.
        hidden: Why it is not used; empty when it is.
    """

    name: str
    distribution: str
    point: metadata.EntryPoint
    hidden: str = ""


@functools.cache
def installed() -> tuple[Installed, ...]:
    """Every task that is offered, by name; one that takes another's name stands behind it, hidden.

    This program's own tasks keep their names, then whatever distribution comes first in the alphabet.
    """
    # a screen that has only built-in tasks pays nothing for it
    from importlib import metadata

    found: list[Installed] = []
    points = {(point.name, _distribution(point)): point for point in metadata.entry_points(group=GROUP)}
    for (name, told), point in sorted(points.items(), key=lambda item: (item[0][0], *_rank(item[0][1]))):
        first = next((each for each in found if each.name == name), None)
        hidden = f"the name is taken by {first.distribution}" if first else ""
        found.append(Installed(name, told, point, hidden))
    return tuple(found)


def _distribution(point: metadata.EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "unknown"


def _rank(distribution: str) -> tuple[bool, str]:
    return distribution.partition(" ")[0] != _OWN, distribution


def points() -> dict[str, metadata.EntryPoint]:
    """Name of a task → where it is imported from."""
    return {each.name: each.point for each in installed() if not each.hidden}


def task_names() -> tuple[str, ...]:
    """Ids of the tasks that are installed, without importing them."""
    return tuple(sorted(points()))


def is_installed(task: str) -> bool:
    """Whether some distribution offers a task of that name."""
    return task in points()
