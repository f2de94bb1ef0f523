"""Records that are taken into a workspace: all of them or none, and nobody's word is written over unasked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from judge_tui.checks.errors import JudgeError, UsageError, WorkspaceError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.exchange.as_table import from_csv
from judge_tui.judging.exchange.foreign import foreign, refuse_foreign
from judge_tui.judging.exchange.one_value import no_key_twice, no_number
from judge_tui.judging.exchange.records import MATCHUPS, OUTCOME, SCORECARD, card_of, matchups_in
from judge_tui.judging.matchup import Matchups, parse_matchups, render_matchups
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.scorecard import render_scorecard
from judge_tui.judging.storage import FileStamp, read_bytes, write_atomically
from judge_tui.judging.workspace import Workspace

__all__ = ["Form", "Plan", "Writing", "carried_out", "planned", "read_records"]

Form = Literal["jsonl", "json", "csv"]
Fate = Literal["new", "same", "replaced"]


@dataclass(frozen=True, slots=True)
class Writing:
    """A file that is to be written.

    Attributes:
        path: Where.
        data: Its content.
        before: What is there now; ``None`` for nothing.
        fate: What becomes of it.
        said: What it says.
    """

    path: Path
    data: bytes
    before: bytes | None
    fate: Fate
    said: Scorecard | Matchups


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do.

    Attributes:
        writings: The files.
        left_out: Records that are no judge's word: outcomes of checks.
        faults: What is wrong, each with its line; with any, nothing is written.
        remarks: What is taken, and is to be known of, each with its line.
    """

    writings: tuple[Writing, ...]
    left_out: int
    faults: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def count(self, fate: Fate) -> int:
        """Files of which that becomes."""
        return sum(writing.fate == fate for writing in self.writings)


def read_records(
    text: str, form: Form, file: Path, faults: list[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line and record, of a text that says some; what cannot be read goes to ``faults``.

    Args:
        text: The text.
        form: How it says them.
        file: Where it is from, for messages.
        faults: Takes what is wrong, with file and line.
    """
    try:
        if form == "csv":
            yield from from_csv(text)
        elif form == "json":
            yield from enumerate(_listed(text), 1)
        else:
            yield from _lines(text, file, faults)
    except JudgeError as error:
        error.file = error.file or str(file)
        faults.append(str(error))


def _lines(text: str, file: Path, faults: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, _object(line)
            except WorkspaceError as error:
                error.file, error.line = str(file), number
                faults.append(str(error))


def _object(text: str) -> dict[str, Any]:
    value = _json(text)
    if not isinstance(value, dict):
        raise WorkspaceError("is no object.")
    return value


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=no_number, object_pairs_hook=no_key_twice)
    except json.JSONDecodeError as error:
        raise WorkspaceError(f"is no JSON: {error.msg}.", line=error.lineno) from error
    except RecursionError as error:
        raise WorkspaceError("is nested too deeply.") from error
    except ValueError as error:
        raise WorkspaceError("holds what is no number.") from error


def _listed(text: str) -> list[dict[str, Any]]:
    value = _json(text)
    found = value.get("records") if isinstance(value, dict) else value
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise WorkspaceError('must be a list of records, or an object with "records".')
    return found


def planned(
    workspace: Workspace, records: Iterator[tuple[int, Mapping[str, Any]]], file: Path, faults: list[str],
    *, replace: bool, counted: str = "",
) -> Plan:  # fmt: skip
    """What taking some records in would do; nothing is written.

    Args:
        workspace: Where to.
        records: Line and record.
        file: Where they are from, for messages.
        faults: What was wrong already while they were read.
        replace: Whether what is there, and says something else, is written over.
        counted: What the numbers of the records count, where they are no lines: ``record``.
    """
    workspace = ReadOnce.of(workspace)
    writings: dict[Path, Writing] = {}
    told: list[tuple[str, Scorecard | Matchups]] = []
    left_out = 0
    for line, record in records:
        place = f"{file}: {counted} {line}" if counted else f"{file}:{line}"
        if record.get("record") == OUTCOME:
            left_out += 1
            continue
        try:
            writing = _writing(workspace, record, file)
            if writing.path in writings:
                raise WorkspaceError("says once more what a record before it says.")
            if writing.fate != "same":
                refuse_foreign(workspace, writing.said)
            if writing.fate == "replaced" and not replace:
                own = writing.path.relative_to(workspace.root)
                raise WorkspaceError(
                    f"{own} is there already and says something else.", hint="Take --replace."
                )
        except JudgeError as error:
            # a hint on names is about options of commands that take one
            error.file, error.line = None, None
            error.hint = "" if isinstance(error, UsageError) else error.hint
            faults.append(f"{place}: {error}")
            continue
        writings[writing.path] = writing
        told.append((place, writing.said))
    remarks = tuple(foreign(workspace, told))
    return Plan(tuple(writings.values()), left_out, tuple(faults), remarks)


def _writing(workspace: Workspace, record: Mapping[str, Any], file: Path) -> Writing:
    kind = record.get("record", SCORECARD)
    found: Scorecard | Matchups
    if kind == SCORECARD:
        found = card_of(record, file)
        path = workspace.scorecard_path(found.task, found.model, found.judge)
        data = render_scorecard(found).encode()
    elif kind == MATCHUPS:
        found = matchups_in(record, file)
        path, data = workspace.matchups_path(found.task, found.judge), render_matchups(found).encode()
    else:
        raise WorkspaceError(f"'record' must be {SCORECARD}, {MATCHUPS} or {OUTCOME}, not {kind!r:.40}.")
    before = read_bytes(path)
    fate: Fate = "new" if before is None else "same" if before == data else "replaced"
    if fate == "replaced" and isinstance(found, Matchups) and _goes_on(before or b"", found, path):
        fate = "new"
    return Writing(path, data, before, fate, found)


def _goes_on(before: bytes, after: Matchups, path: Path) -> bool:
    """Whether all that a file of matchups says stays as it is, and something new comes to it."""
    there = parse_matchups(before, path)
    return msgspec.structs.replace(there, matchups=()) == msgspec.structs.replace(after, matchups=()) and set(
        there.matchups
    ) <= set(after.matchups)


def carried_out(writings: Sequence[Writing]) -> None:
    """Write files; where one cannot be written, or it is broken off, those before it are put back.

    Raises:
        Conflict: Something else is there than when it was planned; nothing is changed.
        WorkspaceError: One cannot be written; nothing is changed.
    """
    done: list[Writing] = []
    try:
        for writing in writings:
            if writing.fate != "same":
                expected = None if writing.before is None else FileStamp.of(writing.before)
                write_atomically(writing.path, writing.data, expected)
                done.append(writing)
    except BaseException:
        # Ctrl-C as well: all of them or none
        for writing in reversed(done):
            with suppress(JudgeError, OSError):
                _put_back(writing)
        raise


def _put_back(writing: Writing) -> None:
    if writing.before is None:
        writing.path.unlink()
    else:
        write_atomically(writing.path, writing.before, FileStamp.of(writing.data))
