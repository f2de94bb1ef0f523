"""The shapes of records, for whoever writes some: msgspec makes their JSON Schema.

They say what every record has and may have; keys beyond are kept, and a reader that finds some goes on.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from judge_tui.checks.verdict import Outcome

__all__ = ["RECORD", "json_schema"]

Points = Annotated[
    int, Meta(ge=0, le=100, description="Points; absent where nothing is scored, for 0 is a score.")
]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
Attempt = Annotated[int, Meta(ge=1, description="Which answer of the model; 1 when absent.")]
Moment = Annotated[str | dict[str, str], Meta(description="A date or a date with time, as ISO 8601 has it.")]


class Dimension(msgspec.Struct, omit_defaults=True):
    """A judge's word on one dimension of the rubric."""

    score: Points | None = None
    comment: str = ""


class NoteContext(msgspec.Struct, omit_defaults=True):
    """What stood around the lines of a note."""

    within: str = ""
    before: list[str] = []
    after: list[str] = []
    ends: str = ""
    endings: int = 0
    equal: list[int] = []
    twins: list[int] = []
    text: str = ""


class NoteFollowed(msgspec.Struct, omit_defaults=True):
    """Where the lines of a note went, where they say something else since."""

    file: str
    lines: Annotated[list[int], Meta(min_length=2, max_length=2, description="First and last, from 1 on.")]
    quote: str = ""
    gone: Annotated[bool, Meta(description="Nothing took their place: the lines that they stood beside.")] = (
        False
    )
    context: NoteContext | None = None


class Note(msgspec.Struct, omit_defaults=True):
    """What a judge saw, and where."""

    kind: Literal["strength", "weakness", "bug", "question"]
    text: str
    severity: Literal["minor", "major", "critical"] = "minor"
    file: str | None = None
    lines: (
        Annotated[list[int], Meta(min_length=2, max_length=2, description="First and last, from 1 on.")]
        | None
    ) = None
    quote: str = ""
    id: str = ""
    context: NoteContext | None = None
    followed: NoteFollowed | None = None


class Seen(msgspec.Struct, omit_defaults=True):
    """A verdict as it stood when the judge scored."""

    check: str
    verdict: str
    summary: str = ""


class RubricSeen(msgspec.Struct, omit_defaults=True):
    """The rubric that the scores were given under."""

    id: str = ""
    version: int | None = None
    digest: str = ""


class Verdict(msgspec.Struct, omit_defaults=True):
    """What a judge calls a submission as a whole."""

    kind: Literal["clean", "rubric leak", "reward hack", "interesting", "bug"]
    note: Annotated[str, Meta(description="Id of the note that shows its lines.")] = ""


class Blind(msgspec.Struct, omit_defaults=True):
    """How far a card was written without knowing the names."""

    began: Moment | None = None
    revealed: Moment | None = None
    side: str = ""
    known: bool = False
    changed: list[str] = []
    scores: dict[str, int] = {}


class Provenance(msgspec.Struct, omit_defaults=True):
    """Where the card of a machine, or of another program, is from."""

    source: str = ""
    prompt: Annotated[str, Meta(description="What was asked, or its digest.")] = ""
    order: Annotated[
        list[str], Meta(description="The submissions in the order that they were shown in.")
    ] = []
    received: Moment | None = None


class ScorecardRecord(msgspec.Struct, omit_defaults=True, tag_field="record", tag="scorecard"):
    """One judge's word on one submission."""

    task: Name
    model: Name
    judge: Name
    schema: int = 1
    attempt: Attempt = 1
    judge_kind: Literal["person", "model"] = "person"
    provenance: Provenance | None = None
    submission: Annotated[str, Meta(description="Digest of the files; absent: scored elsewhere.")] | None = (
        None
    )
    created: Moment | None = None
    updated: Moment | None = None
    overall: Points | None = None
    overall_reason: str = ""
    grade: str | None = None
    summary: str = ""
    rubric: RubricSeen | None = None
    verdict: Verdict | None = None
    blind: Blind | None = None
    dimensions: dict[str, Dimension] = {}
    notes: list[Note] = []
    checks: list[Seen] = []


class Criterion(msgspec.Struct, omit_defaults=True):
    """One line of a comparison."""

    name: str
    cells: Annotated[dict[str, str], Meta(description="Model → what it shows.")] = {}
    edge: Annotated[str, Meta(description="Who is ahead, or tie.")] | None = None
    note: str = ""
    basis: str = ""


class Matchup(msgspec.Struct, omit_defaults=True):
    """A comparison of two submissions or more."""

    models: Annotated[list[Name], Meta(min_length=2)]
    winner: Annotated[str, Meta(description="A model, tie, or another word of the judge.")] | None = None
    margin: int | None = None
    key_differentiator: str = ""
    source: str = ""
    declined: list[str] = []
    submissions: dict[str, str] = {}
    criteria: list[Criterion] = []


class MatchupsRecord(msgspec.Struct, omit_defaults=True, tag_field="record", tag="matchups"):
    """A judge's comparisons on one task."""

    task: Name
    judge: Name
    schema: int = 1
    matchups: list[Matchup] = []


class OutcomeRecord(
    Outcome, frozen=True, omit_defaults=True, tag_field="record", tag="outcome", kw_only=True
):
    """What one check found, as ``check --format json`` has it; it is told and never taken in."""

    attempt: Attempt = 1
    submission: str = ""


RECORD = ScorecardRecord | MatchupsRecord | OutcomeRecord


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a record."""
    found = msgspec.json.schema(RECORD)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "judge-tui record", **found}
