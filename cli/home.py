"""``judge-tui`` alone, and ``judge-tui home``: models and tasks, what is scored, what is due next."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.store import last_outcomes
from judge_tui.checks.verdict import SEVERITY, SIGNS
from judge_tui.cli import options
from judge_tui.cli.screen import on_screen
from judge_tui.cli.table import aligned, columns
from judge_tui.judging.attempt_figures import STALE, table
from judge_tui.judging.attempts import attempts_on, passes_unless_blind, several
from judge_tui.judging.naming import default_judge, judge_name
from judge_tui.judging.plain import plain
from judge_tui.judging.read_once import ReadOnce, no_collection
from judge_tui.judging.refusals import newer_cards
from judge_tui.judging.scoreboard import Row, build_board, figure, sealed_cards
from judge_tui.judging.standing import tallied
from judge_tui.judging.strange_names import strange_names
from judge_tui.judging.workspace import Workspace

__all__ = ["command", "matrix", "meant", "show"]

_Rows = Mapping[str, Row]


@click.command("home")
@options.judge
@options.backend
@options.seed
@options.trust
@options.workspace
@options.submissions
@options.bindings
def command(
    judge: str | None,
    workspace: Path | None,
    submissions: Path | None,
    bindings: Path | None,
    **settings: Any,
) -> int:
    """Show models and tasks with their scores, and what is to be judged next; open comparisons from there.

    Without a terminal, print them as a table.
    """
    return show(options.open_workspace(workspace, submissions, bindings), judge, **settings)


def meant(
    judge: str | None, workspace: Path | None, submissions: Path | None, bindings: Path | None, **_: Any
) -> tuple[Workspace, str]:
    """What a command line shows: the workspace and the judge.

    Raises:
        JudgeError: There is no such workspace or judge.
    """
    found = options.open_workspace(workspace, submissions, bindings)
    return found, judge_name(judge) if judge is not None else default_judge()


def show(workspace: Workspace, judge: str | None = None, **settings: Any) -> int:
    """Open Home on a terminal, and print the matrix elsewhere.

    Args:
        workspace: What is shown.
        judge: Who judges; who is logged in by default.
        settings: How checks are run.

    Raises:
        JudgeError: ``judge-tui.toml`` is malformed, or there is no judge.
    """
    if not on_screen():
        print_matrix(workspace)
        return 0
    who = judge_name(judge) if judge is not None else default_judge()
    with no_collection():
        from judge_tui.tui.app import run_home

    return run_home(workspace=workspace, judge=who, **settings)


def print_matrix(workspace: Workspace) -> None:
    """Print the matrix of a workspace."""
    workspace = ReadOnce.of(workspace)
    faults: list[str] = []
    with no_collection():
        rows = matrix(workspace, faults)
    click.echo(plain(workspace.title))
    click.echo()
    if len(rows) < 2 and not faults:
        click.echo("No submission yet. Bring one in: judge-tui add FOLDER --model NAME --task TASK")
        return
    for line in aligned(rows, columns()):
        click.echo(line)
    click.echo()
    click.echo("points and letter, * of files elsewhere · n/m dimensions scored · ○ not scored")
    click.echo("checks: " + " · ".join(f"{SIGNS[verdict]} {verdict}" for verdict in SEVERITY))
    print_attempts(workspace)
    for name in strange_names(workspace):
        click.echo(f"! {plain(name)}")
    for fault in faults:
        click.echo(f"! {plain(fault)}")
    click.echo("Compare two: judge-tui compare MODEL MODEL --task TASK    More: judge-tui --help")


def print_attempts(workspace: Workspace) -> None:
    """Print what several attempts of a model come to; the matrix is about the first. Nothing without any."""
    if not several(workspace, workspace.tasks()):
        return
    broken = dict[tuple[str, str], str]()
    tasks = _scored(workspace, [], broken)
    board = build_board(workspace, lambda card: not card.scored_elsewhere, tasks=tasks, faults=broken)
    judged = {(row.model, task) for row in board.all_rows for task in row.cells}
    sealed = {(card.model, card.task) for card in sealed_cards(workspace, tasks, broken)}
    passes = passes_unless_blind(workspace, sealed, judged)
    found = attempts_on(workspace, board, passes, tasks=tasks)
    rows = [[plain(text) for text in row] for row in table(found)]
    click.echo()
    stale = f"; {STALE} files changed since" if any(STALE in row[3] for row in rows) else ""
    click.echo(
        f"Attempts, of which the cells above are the first; mean and spread of those with points{stale}:"
    )
    for line in aligned([[f"{model} {task}", *rest] for model, task, *rest in rows], columns()):
        click.echo(line)


def matrix(workspace: Workspace, faults: list[str] | None = None) -> list[list[str]]:
    """Tasks × models as texts, with a head.

    Args:
        workspace: The workspace.
        faults: Told what cannot be read, a sentence each; its cells say ``!``.
    """
    workspace = ReadOnce.of(workspace)
    told = [] if faults is None else faults
    closed, broken = _closed(workspace, told), dict[tuple[str, str], str]()
    tasks = _scored(workspace, told, broken)
    build = partial(build_board, workspace, tasks=tasks, faults=broken)
    here = {row.model: row for row in build(lambda card: not card.scored_elsewhere).rows}
    elsewhere = {row.model: row for row in build(lambda card: card.scored_elsewhere).rows}
    models = workspace.models()
    sealed = {(card.model, card.task) for card in sealed_cards(workspace, tasks, broken)}
    told += [*broken.values(), *newer_cards(workspace, tasks)]
    rows = []

    def cell(model: str, task: str) -> str:
        if (model, task) in broken:
            return "!"
        return "blind" if (model, task) in sealed else _told(workspace, here, elsewhere, model, task, told)

    for task in workspace.tasks():
        if task not in tasks:
            rows.append([plain(task), *("!" for _ in models)])
            continue
        shown = [cell(model, task) for model in models if model not in closed]
        if any(shown):
            read = iter(shown)
            rows.append([plain(task), *("!" if model in closed else next(read) for model in models)])
    return [["task", *(plain(workspace.model_title(model)) for model in models)], *rows]


def _scored(workspace: Workspace, faults: list[str], broken: dict[tuple[str, str], str]) -> list[str]:
    """Tasks whose rubric and folders can be read; what is wrong with a card alone costs its cell."""
    readable = []
    for task in workspace.tasks():
        try:
            if any(not card.sealed for card in workspace.scorecards(task, broken)):
                workspace.rubric(task)
        except JudgeError as error:
            faults.append(str(error))
        else:
            readable.append(task)
    return readable


def _closed(workspace: Workspace, faults: list[str]) -> set[str]:
    """Models whose folder cannot be read."""
    closed = set()
    for model in workspace.models():
        try:
            workspace.submitted(model)
        except JudgeError as error:
            closed.add(model)
            faults.append(str(error))
    return closed


def _told(
    workspace: Workspace,
    here: Mapping[str, Row],
    elsewhere: Mapping[str, Row],
    model: str,
    task: str,
    faults: list[str],
) -> str:
    try:
        return _cell(workspace, here, elsewhere, model, task)
    except JudgeError as error:
        faults.append(str(error))
        return "!"


def _cell(workspace: Workspace, here: _Rows, elsewhere: _Rows, model: str, task: str) -> str:
    submission = workspace.submission(model, task)
    # one that is malformed is told here, not by the first check
    _ = submission.meta
    said = [_score(here, model, task)]
    if not said[0] and (published := _score(elsewhere, model, task)):
        said = [f"{published}*"]
    if not said[0] and submission.files:
        said = ["○"]
    # where blind is the rule, who has no points yet is still to be judged, and verdicts would tell who is who
    if submission.files and not (workspace.settings.blind and said[0] in ("", "○")):
        found = tallied(outcome.verdict for outcome in last_outcomes(submission).values())
        said += [f"{SIGNS[verdict]}{count}" for verdict, count in found]
    return plain(" ".join(part for part in said if part))


def _score(board: _Rows, model: str, task: str) -> str:
    row = board.get(model)
    cell = row.cells.get(task) if row else None
    if cell is None:
        return ""
    shown = [figure(cell.points, cell.counted)] if cell.points is not None else []
    shown += ["/".join(cell.letters)] if cell.letters else []
    return " ".join(shown) or (f"{cell.scored}/{cell.dimensions}" if cell.scored else "")
