"""Where the reader has been: back to a place that a jump has left, and forward again."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["JumpList", "Place"]

_MOST = 100


class Place(Struct, frozen=True):
    """A line of a file in a pane; the line counts from 0."""

    pane: int
    file: str
    line: int


class JumpList:
    """Places that jumps have left, as a browser keeps pages: a new jump ends the way forward."""

    def __init__(self) -> None:
        self._behind: list[Place] = []
        self._ahead: list[Place] = []

    def leave(self, place: Place) -> None:
        """A jump goes away from a place."""
        if not self._behind or self._behind[-1] != place:
            self._behind = [*self._behind[1 - _MOST :], place]
        self._ahead.clear()

    def back(self, here: Place) -> Place | None:
        """The place before, if there is one; ``here`` is the way forward again."""
        return _step(self._behind, self._ahead, here)

    def forward(self, here: Place) -> Place | None:
        """The place that the last :meth:`back` has left."""
        return _step(self._ahead, self._behind, here)


def _step(taken: list[Place], given: list[Place], here: Place) -> Place | None:
    while taken:
        place = taken.pop()
        if place != here:
            given.append(here)
            return place
    return None
