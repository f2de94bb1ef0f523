"""What a scorecard says of a blind judging: when it began, when the names were revealed, what changed since.

In the file::

    [blind]
    began = 2026-03-01T09:00:00+00:00
    revealed = 2026-03-01T10:00:00+00:00
    side = "A"
    changed = ["tests"]

    [blind.scores]
    correctness = 85
    tests = 70

Until ``revealed`` is there the card is sealed: no scoreboard counts it, since the figures beside the
names would tell the judge who is who.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from judge_tui.judging.document import Table

__all__ = ["OVERALL", "BlindMark", "merged", "parse_blind", "render_blind"]

#: Stands for the judge's own total among the ids of dimensions.
OVERALL = "overall"

_KNOWN = ("began", "revealed", "side", "known", "changed", "scores")

Moment = datetime | date | str


class BlindMark(Struct, frozen=True):
    """How far a card was written without knowing the names.

    Attributes:
        began: When the judge first changed the card with the names hidden.
        revealed: When the names were revealed to the judge; ``None`` while they are hidden.
        side: The letter that the submission had, told with the reveal.
        known: Whether the card held scores from before, given under the names.
        scores: What was scored when the names were revealed; the judge's own total as ``overall``.
        changed: What is scored otherwise now than it was then.
        extra: Keys of the file that this version does not know.
    """

    began: Moment | None = None
    revealed: Moment | None = None
    side: str = ""
    known: bool = False
    scores: Mapping[str, int] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def revealing(self, scores: Mapping[str, int], side: str, at: Moment) -> BlindMark:
        """The mark once the names are known; one that says so already stays as it is."""
        if self.revealed is not None:
            return self
        return replace(self, revealed=at, side=side, scores=dict(scores), changed=())

    def held_against(self, scores: Mapping[str, int]) -> BlindMark:
        """The mark of a card that says these scores now."""
        if self.revealed is None:
            return self
        names = (*self.scores, *(name for name in scores if name not in self.scores))
        changed = tuple(name for name in names if scores.get(name) != self.scores.get(name))
        return replace(self, changed=changed)


def merged(one: BlindMark | None, other: BlindMark | None) -> BlindMark | None:
    """What two copies of a card say together: a reveal that one of them knows of has happened."""
    if one is None or other is None:
        return one or other
    return other if one.revealed is None else one


def parse_blind(table: Table) -> BlindMark:
    """Read the ``[blind]`` of a scorecard.

    Raises:
        WorkspaceError: A value has the wrong type.
    """
    given = table.table("scores")
    scores = {name: points for name in given.raw if (points := given.points(name)) is not None}
    return BlindMark(
        began=table.moment("began"),
        revealed=table.moment("revealed"),
        side=table.string("side", ""),
        known=table.boolean("known"),
        scores=scores,
        changed=table.strings("changed"),
        extra=table.extra(*_KNOWN),
    )


def render_blind(mark: BlindMark) -> dict[str, Any]:
    """The mark as a table; what is absent is left out."""
    raw: dict[str, Any] = {
        "began": mark.began, "revealed": mark.revealed, "side": mark.side or None,
        "known": mark.known or None, "changed": list(mark.changed) or None,
        "scores": dict(mark.scores) or None,
    }  # fmt: skip
    return {key: value for key, value in raw.items() if value is not None} | dict(mark.extra)
