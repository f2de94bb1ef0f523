"""Rounds: which models were judged on which tasks, when, and what a judge has to say of it all.

A round is a file of the workspace, ``rounds/<id>.toml``, written by hand. Scores, winners and notes are none
of it: they come from scorecards and matchups. It holds what only a judge can write: prose, and grades over
all tasks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from judge_tui.checks.errors import JudgeError, UsageError
from judge_tui.checks.schema import ROUND
from judge_tui.judging.document import Table, read_document
from judge_tui.judging.folders import documents_in, kept_inside
from judge_tui.judging.newer import versioned

if TYPE_CHECKING:
    from judge_tui.judging.workspace import Workspace

__all__ = ["ROUNDS", "Passage", "Round", "load_round", "new_round", "one_round", "round_ids", "rounds_of"]

#: Folder of a workspace that holds its rounds.
ROUNDS = "rounds"
_BEGUN = """\
title = {title}
date = {day}
tasks = [{tasks}]
models = [{models}]

# What only a judge can say of it: take the # away and write.

# [grades]    # over all tasks
# <model> = "B+"

# [[prose]]
# judge = {judge}
# task = "<task>"    # stands with that task; without it behind all of them
# heading = "What made it close"
# text = \'\'\'
# …
# \'\'\'
"""


class Passage(Struct, frozen=True):
    """What a judge has written: a paragraph, a table of their own, or both.

    Attributes:
        judge: Whose words they are.
        text: Paragraphs, with blank lines between them.
        heading: What stands above it; empty for none.
        task: The task that it is about; empty where it is about the whole round.
        columns: Titles of the columns of a table.
        rows: As many cells each.
    """

    judge: str
    text: str = ""
    heading: str = ""
    task: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Round(Struct, frozen=True):
    """One round of judging.

    Attributes:
        id: Name of its file.
        title: Its title.
        day: When it was, ``YYYY-MM-DD``; empty where that is not said.
        tasks: Ids, in their order; all that have a word when empty.
        models: Folder names, in their order; all that have a word when empty.
        judges: Whose words count; everybody's when empty.
        source: The document whose matchups are this round's, where there are several; empty for any.
        against: Id of an earlier round that it is set against; empty for none.
        grades: Model → the judge's letter for the whole round.
        passages: The judge's prose.
    """

    id: str
    title: str
    day: str = ""
    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    source: str = ""
    against: str = ""
    grades: Mapping[str, str] = field(default_factory=dict)
    passages: tuple[Passage, ...] = ()


def round_ids(workspace: Workspace) -> list[str]:
    """Ids of the rounds of a workspace, by the names of their files."""
    return [path.stem for path in documents_in(workspace.root / ROUNDS)]


def one_round(workspace: Workspace, name: str) -> Round:
    """A round by its id.

    Raises:
        UsageError: There is none of that name.
        WorkspaceError: Its file is malformed.
    """
    known = round_ids(workspace)
    if name not in known:
        there = f"There are: {', '.join(known)}." if known else f"Write {ROUNDS}/{name}.toml: docs/formats.md"
        raise UsageError(f"there is no round '{name}'.", hint=there)
    return load_round(workspace, workspace.root / ROUNDS / f"{name}.toml")


def new_round(name: str, tasks: Iterable[str], models: Iterable[str], judge: str) -> str:
    """The text of a round that is begun, with what a judge may write.

    Args:
        name: Its id.
        tasks: Ids of its tasks.
        models: Folder names of its models.
        judge: Whose prose.
    """
    return _BEGUN.format(
        title=_quoted(name.replace("-", " ").capitalize()),
        day=datetime.now(tz=UTC).date().isoformat(),
        tasks=", ".join(map(_quoted, tasks)),
        models=", ".join(map(_quoted, models)),
        judge=_quoted(judge),
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def rounds_of(workspace: Workspace, faults: list[str]) -> list[Round]:
    """All rounds of a workspace, the earliest first; those without a day by their names, in front.

    Args:
        workspace: Where they are.
        faults: Takes what is wrong with those that cannot be read.
    """
    found: list[Round] = []
    for path in documents_in(workspace.root / ROUNDS):
        try:
            found.append(load_round(workspace, path))
        except JudgeError as error:
            faults.append(str(error))
    return sorted(found, key=lambda one: (one.day, one.id))


def load_round(workspace: Workspace, path: Path) -> Round:
    """Read a round.

    Args:
        workspace: Where its tasks and models are.
        path: Its file.

    Raises:
        NewerSchema: It is of a newer schema.
        WorkspaceError: It cannot be read, is malformed, or names what is not there.
    """
    whole = read_document(kept_inside(path, workspace.root))
    table, _ = versioned(whole, ROUND, lambda _: None, {}, newer=False)
    tasks, models = table.strings("tasks"), table.strings("models")
    _found(table, "tasks", tasks, workspace.task)
    _found(table, "models", models, lambda name: workspace.model(name, *tasks))
    return Round(
        path.stem,
        table.string("title"),
        _day(table),
        tasks,
        models,
        table.strings("judges"),
        table.string("source", ""),
        table.string("against", ""),
        {model: grades.string(model) for grades in [table.table("grades")] for model in grades.raw},
        tuple(_passage(each, tasks) for each in table.tables("prose")),
    )


def _found(table: Table, key: str, names: Iterable[str], find: Callable[[str], str]) -> None:
    for name in names:
        try:
            find(name)
        except UsageError as error:
            raise table.fault(error.message, key, hint=error.hint) from error


def _day(table: Table) -> str:
    moment = table.moment("date")
    if isinstance(moment, str):
        try:
            moment = date.fromisoformat(moment[:10])
        except ValueError:
            raise table.fault("'date' must be a date, as 2026-04-27", "date") from None
    if isinstance(moment, datetime):
        moment = moment.date()
    return moment.isoformat() if moment is not None else ""


def _passage(table: Table, tasks: tuple[str, ...]) -> Passage:
    judge, text, task = table.string("judge"), table.string("text", ""), table.string("task", "")
    if task and tasks and task not in tasks:
        raise table.fault(f"'task' is none of the round's: {', '.join(tasks)}", "task")
    columns, rows = table.strings("columns"), table.raw.get("rows", [])
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        raise table.fault('\'rows\' must be a list of lists of texts, as [["one", "two"]]', "rows")
    for row in rows:
        if len(row) != len(columns):
            raise table.fault(f"a row has {len(row)} cells, where 'columns' has {len(columns)}", "rows")
    if not text.strip() and not rows:
        raise table.fault("says nothing: it needs a 'text', or 'columns' and 'rows'")
    return Passage(judge, text, table.string("heading", ""), task, columns, tuple(map(tuple, rows)))


def _is_row(row: object) -> bool:
    return isinstance(row, list) and all(isinstance(cell, str) for cell in row)
