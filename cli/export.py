"""``judge-tui export``: the scoreboard into a README."""

from __future__ import annotations

from pathlib import Path

import click
from judge_tui.checks.errors import WorkspaceError
from judge_tui.cli import options
from judge_tui.judging.export import export_scoreboard
from judge_tui.judging.scoreboard import sealed_cards
from judge_tui.judging.scorecard import FileStamp, write_atomically

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
    before = _read(readme)
    try:
        after = export_scoreboard(before, found)
    except WorkspaceError as error:
        error.file = error.file or str(readme)
        raise
    sealed = len(sealed_cards(found))
    if sealed:
        click.echo(
            f"{sealed} scorecard{'s' if sealed > 1 else ''} of blind comparisons left out: "
            "the names are not revealed yet.",
            err=True,
        )
    if after == before:
        click.echo(f"{readme}: the scoreboard is up to date.")
        return 0
    if check:
        click.echo(f"{readme}: the scoreboard is stale. Write it with: judge-tui export {readme}", err=True)
        return 1
    write_atomically(readme, after, FileStamp.of(before))
    click.echo(f"{readme}: the scoreboard is written.")
    return 0


def _read(readme: Path) -> bytes:
    try:
        return readme.read_bytes()
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=readme) from error
