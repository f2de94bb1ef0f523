"""``judge-tui rubric``: the rubric that applies to a task, as the beginning of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.installed import is_installed
from judge_tui.cli import options
from judge_tui.cli.new_folder import shown_path
from judge_tui.judging.challenges.found import CHALLENGES, OWN, challenge_folder
from judge_tui.judging.challenges.rubric import rubric_text
from judge_tui.judging.folders import is_there, kept_inside
from judge_tui.judging.plain import plain
from judge_tui.judging.rubric import default_rubric_path, default_tasks
from judge_tui.judging.storage import read_bytes, write_atomically
from judge_tui.judging.workspace import Workspace

__all__ = ["command"]

_EDIT = """\
Edit there
  [[dimension]]        what is scored, its weight and, in [dimension.levels], what earns a score
  checks = [...]       the checks that inform it
  [[cap]]              how much it may have at most when a check fails
  [[grade]]            from which mean on a letter is given"""


@click.group("rubric", invoke_without_command=True, no_args_is_help=False)
@click.pass_context
def command(context: click.Context) -> None:
    """Start a rubric of one's own from the one that applies to a task, or print that."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@command.command("new", short_help="Write what applies into the workspace, to edit it.")
@click.argument("task", shell_complete=options.complete_task)
@options.workspace
def new(task: str, workspace: Path | None) -> None:
    """Write the rubric that applies to a task into the workspace, to be edited there.

    That of a challenge goes into its folder, any other into rubrics/. Nothing is ever overwritten.
    """
    found = options.open_workspace(workspace, None, None)
    chosen = task if is_installed(task) else found.task(task, whole=True)
    there = found.rubric_path(chosen)
    if is_there(there):
        raise WorkspaceError(
            f"is there already, and is the rubric of {chosen}.", hint="Edit it.", file=shown_path(there)
        )
    path = _place(found, chosen)
    write_atomically(path, _text(found, chosen), None)
    click.echo(f"{shown_path(path)}: the rubric of {chosen} from now on; it says what applied before.")
    click.echo(_EDIT)
    click.echo(f"Then: judge-tui compare MODEL MODEL --task {chosen}")


@command.command("show", short_help="Print what applies.")
@click.argument("task", shell_complete=options.complete_task)
@options.workspace
def show(task: str, workspace: Path | None) -> None:
    """Print the rubric that applies to a task."""
    found = options.open_workspace(workspace, None, None)
    chosen = found.task(task)
    own = found.rubric_path(chosen)
    data = read_bytes(own) if is_there(own) else _text(found, chosen)
    if data is None:
        raise WorkspaceError("is a link that leads nowhere.", hint="Mend or remove it.", file=shown_path(own))
    click.echo(plain(data.decode("utf-8", "replace"), keep_newlines=True), nl=False)


def _place(found: Workspace, task: str) -> Path:
    folder = challenge_folder(found.root, task)
    path = found.root / "rubrics" / f"{task}.toml" if folder is None else folder / OWN
    return kept_inside(path, found.root)


def _text(found: Workspace, task: str) -> bytes:
    """What applies to a task that the workspace has no rubric of."""
    if task in default_tasks():
        return default_rubric_path(task).read_bytes()
    # of an installed task nothing but its name is known here
    challenge = found.challenge(task) or Challenge(task, str(found.root / CHALLENGES / task))
    return rubric_text(challenge).encode()
