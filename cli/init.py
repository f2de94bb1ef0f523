"""``judge-tui init``: a new workspace."""

from __future__ import annotations

from pathlib import Path

import click
from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.document import render_toml
from judge_tui.judging.export import BEGIN, END
from judge_tui.judging.scorecard import write_atomically
from judge_tui.judging.workspace import CONFIG, is_workspace

__all__ = ["command"]

_FOLDERS = ("submissions", "scores")


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
@click.option("--title", metavar="TEXT", help="The workspace's name; by default its folder's.")
def command(folder: Path, title: str | None) -> None:
    """Make a new workspace, in a new folder or beside what is there already."""
    if folder.is_dir() and is_workspace(folder):
        raise WorkspaceError("is a workspace already.", file=folder)
    name = title or folder.absolute().name
    try:
        for part in _FOLDERS:
            (folder / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot be made: {error.strerror}.", file=folder) from error
    write_atomically(folder / CONFIG, render_toml({"title": name, "aliases": {}}).encode(), None)
    click.echo(f"{folder}: a new workspace, with {', '.join(f'{part}/' for part in _FOLDERS)} and {CONFIG}.")
    click.echo("The shipped rubrics apply; rubrics/<task>.toml would replace one.")
    click.echo(_readme(folder / "README.md", name))
    click.echo("Next: judge-tui add FOLDER --model NAME --task TASK")


def _readme(readme: Path, name: str) -> str:
    if not readme.exists():
        write_atomically(readme, f"# {name}\n\n## Scoreboard\n\n{BEGIN}\n{END}\n".encode(), None)
        return "README.md has the markers between which judge-tui export writes."
    if BEGIN.encode() in readme.read_bytes():
        return "README.md has its markers already."
    return f"README.md stays as it is; for judge-tui export it needs {BEGIN} and {END} on lines of their own."
