"""Scorecards as CSV, a row for each thing that is said, and back.

Anchors of notes, the verdicts that a judge saw, the marks of a blind judging and matchups are not in it:
JSONL has all of these.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.exchange.records import SCORECARD

__all__ = ["COLUMNS", "PARTS", "from_csv", "guarded", "to_csv"]

#: What a row says of a card: ``name``, ``value`` and ``text`` mean for each another thing.
PARTS = ("dimension", "overall", "grade", "summary", "note")
_CARD = ("task", "model", "attempt", "judge", "judge_kind", "submission", "created", "updated")
COLUMNS = (*_CARD, "part", "name", "value", "text", "file", "first", "last")
_PLACE = ("task", "model", "attempt", "judge")
#: A spreadsheet takes what begins with these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(records: Iterable[Mapping[str, Any]]) -> str:
    """The scorecards among some records; a note keeps its lines and loses its quote."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for record in records:
        if record["record"] == SCORECARD:
            own = {key: record[key] for key in _CARD if key in record}
            for row in _rows(record):
                writer.writerow({key: guarded(value) for key, value in (own | row).items()})
    return out.getvalue()


def _rows(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, entry in record.get("dimensions", {}).items():
        value, text = entry.get("score", ""), entry.get("comment", "")
        yield {"part": "dimension", "name": name, "value": value, "text": text}
    if "overall" in record or "overall_reason" in record:
        text = record.get("overall_reason", "")
        yield {"part": "overall", "value": record.get("overall", ""), "text": text}
    if "grade" in record:
        yield {"part": "grade", "value": record["grade"]}
    if "summary" in record:
        yield {"part": "summary", "text": record["summary"]}
    for note in record.get("notes", ()):
        first, last = note.get("lines", ("", ""))
        yield {
            "part": "note", "name": note["kind"], "value": note["severity"], "text": note["text"],
            "file": note.get("file", ""), "first": first, "last": last,
        }  # fmt: skip


def guarded(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith((*_FORMULA, "'")) else value


def from_csv(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The scorecards that a table says, each with the line on which it begins.

    Raises:
        WorkspaceError: It is no such table; with the line.
    """
    reader = csv.DictReader(io.StringIO(text), strict=True)
    cards: dict[tuple[str, ...], tuple[int, dict[str, Any]]] = {}
    ended = 0
    try:
        missing = [name for name in (*_PLACE, "part", "value") if name not in (reader.fieldnames or ())]
        missing.remove("attempt") if "attempt" in missing else None
        if missing:
            raise WorkspaceError(
                f"the first line has no column {', '.join(missing)}.",
                hint=_hint(text.partition("\n")[0]),
                line=1,
            )
        ended = 1
        for row in reader:
            # a cell may go over several
            line, ended = ended + 1, reader.line_num
            if None in row or None in row.values():
                raise WorkspaceError("has another number of cells than the first line.", line=line)
            said = {key: _unguarded(value) for key, value in row.items()}
            place = tuple(said.get(key, "") for key in _PLACE)
            if place not in cards:
                cards[place] = line, _head(said, line)
            _take(cards[place][1], said, line)
    except csv.Error as error:
        raise WorkspaceError(f"is no CSV: {error}.", line=ended + 1) from error
    yield from cards.values()


def _hint(first: str) -> str:
    """What to do about a first line that lacks columns."""
    other = next((sign for sign in ";\t" if "task" in first.split(sign)), "")
    return f"Part the cells by commas, not by {other!r}." if other else f"Columns: {', '.join(COLUMNS)}"


def _unguarded(value: str) -> str:
    return value[1:] if value.startswith("'") and value[1:].startswith((*_FORMULA, "'")) else value


def _head(said: Mapping[str, str], line: int) -> dict[str, Any]:
    kept = {key: said[key] for key in _CARD if said.get(key) and key != "attempt"}
    kept |= {key: said[key] for key in ("task", "model", "judge")}
    return {"record": SCORECARD, **kept, "attempt": _whole(said.get("attempt") or "1", "attempt", line)}


def _take(card: dict[str, Any], said: Mapping[str, str], line: int) -> None:
    """Add what a row says to its card."""
    part, name, value, text = (said.get(key, "") for key in ("part", "name", "value", "text"))
    if part == "dimension":
        known = card.setdefault("dimensions", {})
        if not name or name in known:
            raise WorkspaceError(
                f"'{name}' stands twice." if name else "a dimension needs a name.", line=line
            )
        known[name] = _filled(score=_whole(value, "value", line) if value else None, comment=text)
    elif part == "overall":
        card |= _filled(overall=_whole(value, "value", line) if value else None, overall_reason=text)
    elif part == "grade":
        card["grade"] = value
    elif part == "summary":
        card["summary"] = text
    elif part == "note":
        first, last = said.get("first", ""), said.get("last", "")
        lines = [_whole(each, "lines", line) for each in (first, last or first)] if first else None
        note = _filled(kind=name, severity=value, text=text, file=said.get("file", ""), lines=lines)
        card.setdefault("notes", []).append(note)
    else:
        raise WorkspaceError(f"'part' must be one of {', '.join(PARTS)}, not '{part}'.", line=line)


def _filled(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, "")}


def _whole(text: str, what: str, line: int) -> int:
    try:
        return int(text)
    except ValueError:
        raise WorkspaceError(f"'{what}' must be a whole number, not '{text[:40]}'.", line=line) from None
