"""``judge-tui`` alone, and ``judge-tui home``: models and tasks, what is scored, what is due next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judge_tui.checks.verdict import SEVERITY, SIGNS
from judge_tui.cli import options
from judge_tui.cli.home_table import matrix, readable_tasks
from judge_tui.cli.screen import on_screen
from judge_tui.cli.table import aligned, columns
from judge_tui.judging import read_only
from judge_tui.judging.attempt_figures import STALE, table
from judge_tui.judging.attempts import attempts_on, passes_unless_blind, several
from judge_tui.judging.naming import default_judge, judge_name
from judge_tui.judging.plain import plain
from judge_tui.judging.read_once import ReadOnce, no_collection
from judge_tui.judging.scoreboard import build_board, sealed_cards
from judge_tui.judging.strange_names import strange_names
from judge_tui.judging.workspace import Workspace

__all__ = ["command", "meant", "show"]


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
    if read_only.asked_for():
        read_only.begin()
    with no_collection():
        from judge_tui.tui.app import run_home

    return run_home(workspace=workspace, judge=who, **settings)


def print_matrix(workspace: Workspace) -> None:
    """Print the matrix of a workspace."""
    workspace = ReadOnce.of(workspace)
    faults: list[str] = []
    with no_collection():
        found = matrix(workspace, faults)
    click.echo(plain(workspace.title))
    click.echo()
    if not found.tasks and not faults:
        click.echo("No submission yet. Bring one in: judge-tui add FOLDER --model NAME --task TASK")
        return
    for line in found.lines(columns()):
        click.echo(line)
    click.echo()
    click.echo("points and letter (of n judges), * of files elsewhere · n/m dimensions scored · ○ not scored")
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
    tasks = readable_tasks(workspace, [], broken)
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
