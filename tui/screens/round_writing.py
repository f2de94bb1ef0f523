"""A round of the workspace from the screen: begun where there is none, and written in the judge's editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.app import SuspendNotSupported
from textual.screen import Screen

from judge_tui.checks.errors import UsageError
from judge_tui.judging.read_only import refusal
from judge_tui.judging.rounds import ROUNDS, new_round, round_ids
from judge_tui.judging.storage import read_bytes, write_atomically
from judge_tui.judging.summaries.parts import Report
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.adapting import editor
from judge_tui.tui.keys.type_ahead import TypeAhead

__all__ = ["write_round"]


def write_round(
    screen: Screen[Any], workspace: Workspace, name: str, shown: Report | None, judge: str
) -> str:
    """Have the judge write a round; its id, or nothing where it is as it was.

    Args:
        screen: Where the terminal is taken from.
        workspace: Whose round.
        name: Id of the round; empty for a new one, of what is shown.
        shown: The report in view.
        judge: Whose prose it will be.

    Raises:
        UsageError: There is no terminal, or no such editor.
        WorkspaceError: The file cannot be read or written.
    """
    command = editor()
    chosen = name or _free(workspace)
    path = workspace.root / ROUNDS / f"{chosen}.toml"
    if refused := refusal(path):
        raise refused
    before = read_bytes(path)
    begun = before
    if before is None:
        tasks, models = (shown.tasks, shown.models) if shown is not None else ((), ())
        begun = new_round(chosen, tasks, models, judge).encode()
        write_atomically(path, begun)
    _lend(screen, command, path)
    if read_bytes(path) != begun:
        return chosen
    if before is None:
        path.unlink(missing_ok=True)
    return ""


def _free(workspace: Workspace) -> str:
    known = round_ids(workspace)
    number = 1
    while (name := f"round-{number}") in known:
        number += 1
    return name


def _lend(screen: Screen[Any], command: tuple[str, ...], path: Path) -> None:
    app = screen.app
    assert isinstance(app, TypeAhead)
    try:
        app.lend_terminal([*command, str(path)])
    except SuspendNotSupported as error:
        raise UsageError(f"no editor can be opened here; write {path} with one of yours.") from error
    except OSError as error:
        told = f"the editor '{command[0]}' cannot be started: {error.strerror or error}; write {path}."
        raise UsageError(told) from error
