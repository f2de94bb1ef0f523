"""``judge-tui init``: a new workspace."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging.document import render_toml
from judge_tui.judging.export import BEGIN, END
from judge_tui.judging.scorecard import write_atomically
from judge_tui.judging.storage import read_bytes
from judge_tui.judging.workspace import CONFIG

__all__ = ["command"]

_FOLDERS = ("submissions", "scores")


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
@click.option("--title", metavar="TEXT", help="The workspace's name; by default its folder's.")
def command(folder: Path, title: str | None) -> None:
    """Make a new workspace, in a new folder or beside what is there already."""
    if (folder / CONFIG).is_file() or all((folder / part).is_dir() for part in _FOLDERS):
        raise WorkspaceError("is a workspace already.", file=folder)
    name = title or folder.absolute().name
    _make(folder)
    write_atomically(folder / CONFIG, render_toml({"title": name, "aliases": {}}).encode(), None)
    click.echo(f"{folder}: a new workspace, with {', '.join(f'{part}/' for part in _FOLDERS)} and {CONFIG}.")
    click.echo("The shipped rubrics apply; rubrics/<task>.toml would replace one.")
    click.echo(_readme(folder / "README.md", name))
    click.echo("Next: judge-tui add FOLDER --model NAME --task TASK")
    click.echo("A task of your own: judge-tui challenge new NAME")


def _make(folder: Path) -> None:
    """Make the folders of a workspace, all of them or none."""
    made: list[Path] = []
    for part in (*reversed(folder.absolute().parents), folder, *(folder / part for part in _FOLDERS)):
        if part.is_dir():
            continue
        try:
            part.mkdir()
        except OSError as error:
            for other in reversed(made):
                with suppress(OSError):
                    other.rmdir()
            raise WorkspaceError(
                f"cannot be made: {error.strerror}.", hint="Nothing was made.", file=part
            ) from error
        made.append(part)


def _readme(readme: Path, name: str) -> str:
    needed = f"for judge-tui export it needs {BEGIN} and {END} on lines of their own."
    try:
        text = read_bytes(readme)
    except JudgeError as error:
        return f"{error} The scoreboard goes into a file; {needed}"
    if text is None:
        write_atomically(readme, f"# {name}\n\n## Scoreboard\n\n{BEGIN}\n{END}\n".encode(), None)
        return "README.md has the markers between which judge-tui export writes."
    if BEGIN.encode() in text:
        return "README.md has its markers already."
    return f"README.md stays as it is; {needed}"
