"""Records: a scorecard, a matchup file or an outcome as values that JSON holds, and back without loss.

A record has the keys of its file in the order of the file, with ``record`` in front, which says what it is,
and ``attempt``. A moment is text as ISO 8601 has it; text that only looks like one is ``{"text": "…"}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from judge_tui.checks.attempts import MOST, attempt_name, attempt_of
from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.document import Table
from judge_tui.judging.matchup import Matchups, matchups_of, matchups_table
from judge_tui.judging.naming import folder_name, judge_name, recordable
from judge_tui.judging.scorecard import scorecard_of, scorecard_table

__all__ = [
    "MATCHUPS",
    "OUTCOME",
    "SCORECARD",
    "card_of",
    "card_record",
    "matchups_in",
    "matchups_record",
]

SCORECARD, MATCHUPS, OUTCOME = "scorecard", "matchups", "outcome"
#: Keys whose texts are moments.
_MOMENTS = frozenset({"created", "updated", "received", "began", "revealed"})
#: Stands for a text that would be read as a moment.
_TEXT = "text"


def card_record(card: Scorecard) -> dict[str, Any]:
    """A scorecard as a record."""
    table: dict[str, Any] = _plain(scorecard_table(card))
    attempt = table.pop("attempt", 1)
    return {"record": SCORECARD} | table | {"attempt": attempt}


def matchups_record(matchups: Matchups) -> dict[str, Any]:
    """A judge's matchups on a task as a record; models of later attempts are named as their folders are."""
    table: dict[str, Any] = _plain(matchups_table(matchups))
    return {"record": MATCHUPS} | table


def card_of(record: Mapping[str, Any], file: Path) -> Scorecard:
    """The scorecard that a record says.

    Args:
        record: The record.
        file: What it is read from, for messages.

    Raises:
        JudgeError: It is malformed, or a name in it cannot be that of a file.
    """
    raw = _restored({key: value for key, value in record.items() if key not in ("record", "attempt")})
    attempt = record.get("attempt", 1)
    if type(attempt) is not int or not 1 <= attempt <= MOST:
        raise WorkspaceError("'attempt' must be a whole number from 1 on.", file=file)
    card = scorecard_of(Table(raw, file, ""))
    _named(card.task, card.judge)
    if attempt > 1 and attempt_of(card.model)[1] > 1:
        raise WorkspaceError(f"'attempt' is {attempt}, and the model is '{card.model}'.", file=file)
    raw["model"] = folder_name(attempt_name(card.model, attempt))
    return scorecard_of(Table(raw, file, ""))


def matchups_in(record: Mapping[str, Any], file: Path) -> Matchups:
    """The matchups that a record says.

    Args:
        record: The record.
        file: What it is read from, for messages.

    Raises:
        JudgeError: It is malformed, or a name in it cannot be that of a file.
    """
    raw = _restored({key: value for key, value in record.items() if key != "record"})
    found = matchups_of(Table(raw, file, ""))
    _named(found.task, found.judge)
    for matchup in found.matchups:
        recordable(map(folder_name, matchup.models))
    return found


def _named(task: str, judge: str) -> None:
    if folder_name(task, "task") != task or judge_name(judge) != judge:
        raise UsageError("the names of task and judge cannot begin or end with blanks, and must be in NFC.")
    recordable([task], "task")
    recordable([judge], "judge")


def _plain(value: Any, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, key) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat() if key in _MOMENTS else {"moment": value.isoformat()}
    if isinstance(value, str) and key in _MOMENTS and _moment(value) is not None:
        return {_TEXT: value}
    return value


def _restored(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        if key in _MOMENTS and list(value) == [_TEXT]:
            return value[_TEXT]
        if list(value) == ["moment"] and (moment := _moment(value["moment"])) is not None:
            return moment
        return {name: _restored(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_restored(item, key) for item in value]
    if isinstance(value, str) and key in _MOMENTS:
        return value if (moment := _moment(value)) is None else moment
    return value


def _moment(text: object) -> datetime | date | None:
    """The moment that a text says as :meth:`datetime.datetime.isoformat` does."""
    if not isinstance(text, str):
        return None
    for kind in (date, datetime):
        try:
            found = kind.fromisoformat(text)
        except ValueError:
            continue
        if found.isoformat() == text:
            return found
    return None
