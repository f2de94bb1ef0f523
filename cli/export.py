"""``judge-tui export``: the scoreboard into a README."""

from __future__ import annotations

from pathlib import Path

import click
from judge_tui.cli import options
from judge_tui.judging.known_checks import refuse_unknown_checks
from judge_tui.judging.plain import plain
from judge_tui.judging.publishing import publish

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
    found = options.open_workspace(workspace, None, None)
    for task in found.tasks():
        if found.rubric_path(task).is_file() and found.scorecards(task):
            refuse_unknown_checks(found.rubric_path(task), task)
    export = publish(readme, found, write=not check)
    if export.left_out:
        click.echo(export.left_out, err=True)
    for stray in export.strays:
        click.echo(f"judge-tui: {plain(stray)}", err=True)
    if not export.stale:
        click.echo(f"{readme}: the scoreboard is up to date.")
        return 0
    if check:
        click.echo(f"{readme}: the scoreboard is stale. Write it with: judge-tui export {readme}", err=True)
        return 1
    click.echo(f"{readme}: the scoreboard is written.")
    return 0
