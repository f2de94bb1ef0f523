"""Scorecards on disk: one TOML file per task, model and judge, saved atomically."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from judge_tui.checks.attempts import MOST, attempt_name, attempt_of
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.schema import KEY, SCORECARD
from judge_tui.judging.blind import BlindMark, parse_blind, render_blind
from judge_tui.judging.card import (
    MACHINE,
    PERSON,
    VERDICTS,
    CellVerdict,
    CheckSeen,
    DimensionScore,
    RubricSeen,
    Scorecard,
    now,
)
from judge_tui.judging.document import Table, parse_toml, render_toml, storable
from judge_tui.judging.newer import newer_on_disk, versioned
from judge_tui.judging.note import parse_notes, render_note
from judge_tui.judging.storage import Conflict, FileStamp, read_bytes, write_atomically

__all__ = [
    "CheckSeen",
    "Conflict",
    "DimensionScore",
    "FileStamp",
    "RubricSeen",
    "Scorecard",
    "load_scorecard",
    "parse_scorecard",
    "read_scorecard",
    "render_scorecard",
    "save_scorecard",
    "scorecard_of",
    "scorecard_table",
    "write_atomically",
]

_SCORED = frozenset({"score", "comment"})
_PLACE = ("task", "model", "judge")
_KNOWN = (
    KEY,
    "task",
    "model",
    "attempt",
    "judge",
    "rubric",
    "submission",
    "created",
    "updated",
    "overall",
    "overall_reason",
    "grade",
    "summary",
    "dimensions",
    "notes",
    "checks",
    "blind",
    "judge_kind",
    "provenance",
    "verdict",
)


def load_scorecard(path: Path) -> Scorecard:
    """Read a scorecard; one of a newer schema as far as it can be.

    Raises:
        WorkspaceError: It is missing, unreadable or malformed; with file and line.
    """
    data = read_bytes(path)
    if data is None:
        raise WorkspaceError("there is no such scorecard.", file=path)
    return parse_scorecard(data, path, newer=True)


def read_scorecard(path: Path) -> tuple[Scorecard, FileStamp] | tuple[None, None]:
    """Read a scorecard with the stamp of exactly what was read; two ``None`` when there is none.

    One of a newer schema is read as far as it can be.

    Raises:
        WorkspaceError: It is unreadable or malformed; with file and line.
    """
    data = read_bytes(path)
    return (None, None) if data is None else (parse_scorecard(data, path, newer=True), FileStamp.of(data))


def parse_scorecard(data: bytes, file: Path, *, newer: bool = False) -> Scorecard:
    """Read the bytes of a scorecard.

    Args:
        data: The bytes.
        file: Where they are from.
        newer: Read one of a newer schema as far as it can be; else it is refused, as for whoever goes on to
            write it.

    Raises:
        NewerSchema: It is of a newer schema, and that is not asked for.
        WorkspaceError: They are malformed; with the line.
    """
    whole = parse_toml(data, file)
    table, schema = versioned(whole, SCORECARD, _scorecard, dict.fromkeys(_PLACE, ""), newer=newer)
    card = _scorecard(table)
    if card.schema != schema:
        card = replace(card, schema=schema)
    if card.blind is None and "blind" in whole.raw:
        # whatever it says of the blind judging there: no figure stands beside a name for it
        card = replace(card, blind=BlindMark())
    return card


def _scorecard(table: Table) -> Scorecard:
    return Scorecard(
        task=table.string("task"),
        model=_contestant(table),
        judge=table.string("judge"),
        rubric=_rubric(table.table("rubric")),
        submission=table.optional_string("submission"),
        created=table.moment("created"),
        updated=table.moment("updated"),
        overall=table.points("overall"),
        overall_reason=table.string("overall_reason", ""),
        grade=table.optional_string("grade"),
        summary=table.string("summary", ""),
        dimensions=_dimensions(table.table("dimensions")),
        notes=parse_notes(table.tables("notes")),
        checks=tuple(_check(item) for item in table.tables("checks")),
        blind=parse_blind(table.table("blind")) if "blind" in table.raw else None,
        verdict=_verdict(table.table("verdict")) if "verdict" in table.raw else None,
        judge_kind=_judge_kind(table),
        provenance=dict(table.table("provenance").raw),
        extra=table.extra(*_KNOWN),
    )


def _contestant(table: Table) -> str:
    """The model, with the number of the attempt behind it where that is not the first."""
    attempt = table.integer("attempt", 1)
    if not 1 <= attempt <= MOST:
        raise table.fault(f"'attempt' must be a whole number from 1 to {MOST}", "attempt")
    model = table.string("model")
    return attempt_name(model, attempt) if model else model


def _verdict(table: Table) -> CellVerdict:
    kind = table.string("kind")
    if kind not in VERDICTS:
        raise table.fault(f"'kind' must be one of {', '.join(VERDICTS)}, not '{kind}'", "kind")
    return CellVerdict(kind, table.string("note", ""), table.extra("kind", "note"))


def _judge_kind(table: Table) -> str:
    kind = table.string("judge_kind", PERSON)
    if kind not in (PERSON, MACHINE):
        raise table.fault(f"'judge_kind' must be {PERSON} or {MACHINE}, not '{kind}'", "judge_kind")
    return kind


def _rubric(table: Table) -> RubricSeen:
    version = table.integer("version") if "version" in table.raw else None
    return RubricSeen(
        table.string("id", ""), version, table.string("digest", ""), table.extra("id", "version", "digest")
    )


def _dimensions(table: Table) -> dict[str, DimensionScore]:
    return {name: _dimension(table, name, raw) for name, raw in table.raw.items()}


def _dimension(above: Table, name: str, raw: Any) -> DimensionScore:
    if type(raw) is dict and _SCORED.issuperset(raw):
        score, comment = raw.get("score"), raw.get("comment", "")
        if (score is None or (type(score) is int and 0 <= score <= 100)) and type(comment) is str:
            # as nearly all of many thousands are
            return DimensionScore(score, comment)
    table = above.table(name)
    return DimensionScore(table.points("score"), table.string("comment", ""), table.extra("score", "comment"))


def _check(table: Table) -> CheckSeen:
    return CheckSeen(
        table.string("check"),
        table.string("verdict"),
        table.string("summary", ""),
        table.extra("check", "verdict", "summary"),
    )


def render_scorecard(card: Scorecard) -> str:
    """The card as TOML text, in stable order; what is absent is left out."""
    return render_toml(scorecard_table(card))


def scorecard_table(card: Scorecard) -> dict[str, Any]:
    """The card as the keys and values of its file, in stable order; what is absent is left out."""
    model, attempt = attempt_of(card.model)
    top: dict[str, Any] = {
        "schema": card.schema, "task": card.task, "model": model, "attempt": attempt if attempt > 1 else None,
        "judge": card.judge,
        "judge_kind": card.judge_kind if card.by_machine else None, "submission": card.submission,
        "created": card.created, "updated": card.updated, "overall": card.overall,
        "overall_reason": card.overall_reason or None, "grade": card.grade, "summary": card.summary or None,
    }  # fmt: skip
    seen = card.rubric
    rubric = {"id": seen.id or None, "version": seen.version, "digest": seen.digest or None}
    raw = _present(top) | dict(card.extra)
    raw["rubric"] = _present(rubric) | dict(seen.extra)
    raw["blind"] = render_blind(card.blind) if card.blind is not None else {}
    raw["dimensions"] = {
        name: _present({"score": entry.score, "comment": entry.comment or None}) | dict(entry.extra)
        for name, entry in card.dimensions.items()
    }
    raw["notes"] = [render_note(note) for note in card.notes]
    raw["checks"] = [
        {"check": item.check, "verdict": item.verdict} | _present({"summary": item.summary or None})
        | dict(item.extra) for item in card.checks
    ]  # fmt: skip
    raw["provenance"] = dict(card.provenance)
    if (verdict := card.verdict) is not None:
        raw["verdict"] = _present({"kind": verdict.kind, "note": verdict.note or None}) | dict(verdict.extra)
    return {key: value for key, value in raw.items() if value or key not in _SECTIONS}


_SECTIONS = ("provenance", "rubric", "blind", "dimensions", "notes", "checks")


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: storable(value) if isinstance(value, str) else value
        for key, value in values.items() if value is not None
    }  # fmt: skip


def scorecard_of(table: Table) -> Scorecard:
    """The card that the keys and values of its file say, from wherever they are.

    Raises:
        NewerSchema: They are of a newer schema.
        WorkspaceError: They are malformed.
    """
    found, schema = versioned(table, SCORECARD, _scorecard, dict.fromkeys(_PLACE, ""), newer=False)
    return replace(_scorecard(found), schema=schema)


def save_scorecard(path: Path, card: Scorecard, expected: FileStamp | None) -> FileStamp:
    """Write a card, so that a crash leaves either the old file or the new one.

    Args:
        path: Its file; missing folders are made.
        card: The card; ``updated`` is stamped, ``created`` when it has none, and what was changed after a
            reveal.
        expected: What is believed to be on disk; ``None`` for no file.

    Returns:
        The stamp of what is on disk now.

    Raises:
        NewerSchema: The card, or what is on disk, is of a newer schema.
        Conflict: Something else is on disk.
        WorkspaceError: The folder or file cannot be written.
    """
    if refusal := SCORECARD.refusal(card.schema, path):
        raise refusal
    moment = now()
    blind = card.blind.held_against(card.given) if card.blind is not None else None
    stamped = replace(card, created=card.created or moment, updated=moment, blind=blind)
    data = render_scorecard(stamped).encode()
    try:
        write_atomically(path, data, expected)
    except Conflict as conflict:
        raise newer_on_disk(path, SCORECARD) or conflict from None
    return FileStamp.of(data)
