"""From a check to the judge's own adapter in one key: made where there is none, opened, and tried."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.app import SuspendNotSupported
from textual.screen import Screen

from judge_tui.checks.errors import JudgeError, UsageError
from judge_tui.checks.submission import ADAPTER
from judge_tui.judging.read_only import refusal
from judge_tui.judging.sidefiles import judges_folder
from judge_tui.judging.storage import read_bytes
from judge_tui.tui.adapting import editor, skeleton
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.screens.waiting import Waiting
from judge_tui.tui.session import Session, letter_of

__all__ = ["write_adapter"]


async def write_adapter(
    screen: Screen[Any],
    session: Session,
    index: int,
    tried: Callable[[Path], Awaitable[None]],
    *,
    trust: bool,
) -> None:
    """Have the judge write how a submission is called, and try that; run it in a worker of the screen.

    Args:
        screen: Where it is told what came of it.
        session: Whose submission it is.
        index: Which one.
        tried: Takes in the adapter when it has changed, and runs the checks again.
        trust: Search a submission although nothing confines it.
    """
    try:
        if refused := refusal():
            raise refused
        if session.blindfold.active:
            raise UsageError(
                "an adapter lies in a folder that is named after the model: reveal the names first."
            )
        path = judges_folder(session.workspace, session.submissions[index]) / ADAPTER
        before = read_bytes(path)
        command = editor()
        if before is None and not await _made(screen, session, index, trust=trust):
            return
        _lend(screen, command, path)
        if read_bytes(path) == before:
            screen.notify(f"{path} is as it was.", markup=False, timeout=4)
            return
    except JudgeError as error:
        screen.notify(session.hide(str(error)), severity="error", markup=False, timeout=8)
        return
    await tried(path)


async def _made(screen: Screen[Any], session: Session, index: int, *, trust: bool) -> bool:
    """Make the skeleton; whether it is there, and not broken off.

    Raises:
        UsageError: It cannot be made.
    """
    work = skeleton(session.workspace, session.submissions[index], trust=trust)
    said = await screen.app.push_screen_wait(Waiting(f"What {letter_of(index)} defines is looked at", work))
    if said:
        raise UsageError(said)
    return said is not None


def _lend(screen: Screen[Any], command: tuple[str, ...], path: Path) -> None:
    """Open the file in the editor.

    Raises:
        UsageError: There is no terminal, or no such editor.
    """
    app = screen.app
    assert isinstance(app, TypeAhead)
    try:
        app.lend_terminal([*command, str(path)])
    except SuspendNotSupported as error:
        told = f"no editor can be opened here; {path} is tried as soon as it is saved."
        raise UsageError(told) from error
    except OSError as error:
        told = f"the editor '{command[0]}' cannot be started: {error.strerror or error}; {path} is there."
        raise UsageError(told) from error
