"""``judge-tui export``: the scoreboard into a README."""

from __future__ import annotations

from pathlib import Path

import click

from judge_tui.checks.errors import UsageError
from judge_tui.cli import options
from judge_tui.judging.known_checks import refuse_unknown_checks
from judge_tui.judging.plain import plain
from judge_tui.judging.publishing import publish
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.workspace import Workspace, is_workspace

__all__ = ["command"]


@click.command("export")
@click.argument("readme", type=click.Path(path_type=Path), default="README.md", metavar="[README.md]")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when the scoreboard is stale.")
@options.workspace
def command(readme: Path, check: bool, workspace: Path | None) -> int:
    """Write the scoreboard into a README, between two markers.

    The markers stand on lines of their own:

    \b
      <!-- judge-tui:scoreboard -->
      <!-- /judge-tui:scoreboard -->

    Nothing outside them changes by a byte.
    """
    found = ReadOnce.of(options.open_workspace(workspace, None, None))
    _refuse_foreign(readme, found)
    for task in found.tasks():
        if found.rubric_path(task).is_file() and found.scorecards(task):
            refuse_unknown_checks(found.rubric_path(task), task, found.challenge(task))
    export = publish(readme, found, write=not check)
    if export.left_out:
        click.echo(export.left_out, err=True)
    for sentence in (*export.newer, *export.strays):
        click.echo(f"judge-tui: {plain(sentence)}", err=True)
    whose = f" of {found.root}" if workspace else ""
    if not export.stale:
        click.echo(f"{readme}: the scoreboard{whose} is up to date.")
        return 0
    if check:
        click.echo(f"{readme}: the scoreboard is stale. Write it with: judge-tui export {readme}", err=True)
        return 1
    click.echo(f"{readme}: the scoreboard{whose} is written.")
    return 0


def _refuse_foreign(readme: Path, workspace: Workspace) -> None:
    """Refuse a file of another workspace, whose board it would replace; a file of none may take any.

    Raises:
        UsageError: It stands in one.
    """
    path = readme.absolute()
    other = next((folder for folder in path.parents if is_workspace(folder)), workspace.root)
    if other.resolve() != workspace.root.resolve():
        raise UsageError(
            f"{path} belongs to another workspace, {other}.",
            hint=f"Name a file of {workspace.root}, or go there.",
        )
