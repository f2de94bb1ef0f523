"""Options that several commands share, and the completion of names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from judge_tui.judging.workspace import Workspace

__all__ = [
    "FOLDER",
    "backend",
    "bindings",
    "complete_model",
    "complete_task",
    "judge",
    "open_tree",
    "open_workspace",
    "seed",
    "submissions",
    "task",
    "trust",
    "workspace",
]

FOLDER = click.Path(path_type=Path, file_okay=False)

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _remembered(context: click.Context, _: click.Parameter, value: Path | None) -> Path | None:
    # judge-tui --workspace DIR compare … and judge-tui compare --workspace DIR … are the same
    return value if value is not None else context.find_object(Path)


def _found(context: click.Context) -> Workspace | None:
    from judge_tui.checks.errors import JudgeError

    try:
        return open_workspace(
            context.params.get("workspace") or context.find_object(Path),
            context.params.get("submissions"),
            None,
        )
    except JudgeError:
        return None


def complete_model(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Models of the workspace, and their attempts, that begin as typed."""
    found = _found(context)
    return [CompletionItem(m) for m in (found.contestants() if found else ()) if m.startswith(incomplete)]


def complete_task(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Tasks of the workspace that begin as typed."""
    found = _found(context)
    return [CompletionItem(t) for t in (found.tasks() if found else ()) if t.startswith(incomplete)]


workspace = click.option(
    "--workspace", type=FOLDER, metavar="DIR", is_eager=True, callback=_remembered,
    help="The workspace; by default the current folder or one above it.",
)  # fmt: skip
submissions = click.option(
    "--submissions", type=FOLDER, metavar="DIR", is_eager=True,
    help="A tree <model>/<task>/ to read instead of the workspace's; nothing is written into it.",
)  # fmt: skip
bindings = click.option(
    "--bindings", type=FOLDER, metavar="DIR",
    help="A tree <model>/<task>/ whose submission.toml and adapter.py win.",
)  # fmt: skip
backend = click.option(
    "--backend", type=click.Choice(["auto", "cpu", "gpu", "emulator"]), default="auto", show_default=True,
    help="Where the checks run.",
)  # fmt: skip
seed = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", help="Draw the inputs that this seed gives."
)
trust = click.option("--trust", is_flag=True, help="Run submissions although nothing confines them here.")
judge = click.option(
    "--judge", metavar="NAME", help="Who judges; by default $JUDGE_TUI_JUDGE or the user's name."
)


def task(*, several: bool = False, required: bool = False) -> Callable[[_Command], _Command]:
    """The option ``--task``.

    Args:
        several: It may be given more than once.
        required: It must be given.
    """
    name = "tasks" if several else "task"
    described = "The task; repeat it for several." if several else "The task."
    return click.option(
        "--task",
        name,
        multiple=several,
        required=required,
        metavar="T",
        help=described,
        shell_complete=complete_task,
    )


def open_workspace(folder: Path | None, submissions: Path | None, bindings: Path | None) -> Workspace:
    """The workspace that a command works on.

    Raises:
        WorkspaceError: There is none.
    """
    return Workspace.find(explicit=folder, submissions=submissions, bindings=bindings)


def open_tree(folder: Path | None, submissions: Path | None, bindings: Path | None) -> Workspace:
    """The workspace that a command works on, or a tree of submissions that belongs to none.

    Raises:
        WorkspaceError: There is neither.
    """
    from judge_tui.checks.errors import JudgeError

    try:
        return open_workspace(folder, submissions, bindings)
    except JudgeError:
        # a tree anywhere can be looked at, workspace or not
        if submissions is None or not submissions.is_dir() or folder is not None:
            raise
        return Workspace.loose(submissions, bindings)
