"""``judge-tui challenge new``: a small challenge that judges as it is, to begin with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import click

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.cli import options
from judge_tui.cli.challenge.skeleton import KINDS, RIGHT, WRONG, skeleton
from judge_tui.cli.new_folder import shown_path, write_new
from judge_tui.cli.table import padded
from judge_tui.judging.challenges.found import CHALLENGES
from judge_tui.judging.folders import is_there, kept_inside
from judge_tui.judging.rubric import default_tasks
from judge_tui.judging.workspace import Workspace

__all__ = ["command"]

_NAME = re.compile(r"[a-z0-9_-]+")
#: Parts of a challenge → what they are for.
_PARTS = {
    "challenge.md": "what is asked for, in words",
    "challenge.py": "a reference, inputs and cases",
    "tests": "the judge's own tests",
    "cases": "what a program reads, and what it must print",
    "challenge.toml": "limits and all else; every key has a default",
    RIGHT: "an answer that must pass",
    WRONG: "one that must fail, and by which check",
}


@click.command("new")
@click.argument("name")
@click.option(
    "--kind", "kinds", type=click.Choice(list(KINDS)), multiple=True, default=("numbers",),
    help="What answers are judged by: numbers (the default), tests or programs; repeat it for several.",
)  # fmt: skip
@options.workspace
def command(name: str, kinds: tuple[str, ...], workspace: Path | None) -> None:
    """Write a small challenge that judges as it is, to begin with.

    \b
    numbers    a reference in NumPy, inputs that are drawn anew, and cases
    tests      pytest files that import the answer
    programs   standard input, and what must come out

    It comes with a right answer and a wrong one. Nothing is ever overwritten.
    """
    _refuse_name(name)
    root = _workspace(workspace, name).root
    folder = kept_inside(root / CHALLENGES / name, root)
    if is_there(folder):
        raise WorkspaceError(
            "is there already, and nothing is overwritten.",
            hint=f"Take another name, or go on with it: judge-tui challenge check {name}",
            file=shown_path(folder),
        )
    files = skeleton(kinds)
    write_new(folder, {file: text.encode() for file, text in files.items()})
    click.echo(f"{shown_path(folder)}: a challenge that judges as it is.")
    _tell(name, files)


def _refuse_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        near = re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")
        raise UsageError(
            f"'{name}' is no name of a challenge: it is of small letters, digits, _ and -.",
            hint=f"Take {near}." if near else "",
        )
    if name in default_tasks():
        raise UsageError(f"{name} is a built-in task.", hint="Take another name.")


def _workspace(folder: Path | None, name: str) -> Workspace:
    try:
        return options.open_workspace(folder, None, None)
    except WorkspaceError as error:
        if folder is not None:
            raise
        raise WorkspaceError(
            error.message, hint=f"Make one here: judge-tui init . && judge-tui challenge new {name}"
        ) from error


def _tell(name: str, files: Mapping[str, str]) -> None:
    there = [part for part in _PARTS if any(f"{file}/".startswith(f"{part}/") for file in files)]
    width = max(map(len, there))
    for part in there:
        click.echo(f"  {padded(part, width)}  {_PARTS[part]}")
    click.echo("Next: put your own challenge in its place, file by file, and then")
    click.echo(f"  judge-tui challenge check {name}")
    click.echo(f"  judge-tui add FOLDER --model NAME --task {name}")
    click.echo(f"  judge-tui compare MODEL MODEL --task {name}")
