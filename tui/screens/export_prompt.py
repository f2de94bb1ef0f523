"""Asks for the file that the scoreboard is written into, and writes it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Input, Static

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.publishing import publish
from judge_tui.judging.read_only import refusal
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.background import Background
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.screens.dialog import Dialog
from judge_tui.tui.widgets.line_input import LineInput

__all__ = ["ExportPrompt", "ask_to_export"]

#: What was written, or why not, and whether that is an error.
Told = tuple[str, bool]


class ExportPrompt(Dialog[str]):
    """Gives the file as it was typed, or ``None``.

    Args:
        what: What is written into it.
        proposed: The file that is proposed.
        how: What is to be known of it, and what the key does.
    """

    BINDINGS: ClassVar = [
        Binding("enter", "write", "write it", priority=True),
        Binding("escape", "close", "close", priority=True),
    ]

    BINDINGS = named("export", BINDINGS)

    def __init__(
        self,
        what: str = "Export the scoreboard into",
        proposed: str = "README.md",
        how: str = "{write} writes between its two markers, and nowhere else",
    ) -> None:
        super().__init__()
        self._what, self._proposed, self._how = what, proposed, how

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._what)
            yield LineInput(self._proposed)
            how = self._how.format(write=key_for(self, "write"))
            yield Static(f"a file of the workspace, or a whole path · {how}", classes="hint", markup=False)

    def action_write(self) -> None:
        self.dismiss(self.query_one(Input).value.strip() or None)

    def action_close(self) -> None:
        self.dismiss(None)


def ask_to_export(screen: Screen[None], workspace: Workspace, kept: Callable[[], str] = lambda: "") -> None:
    """Ask for a file, write the scoreboard into it behind the screen's back, and tell how that went.

    Args:
        screen: Where it is asked.
        workspace: What is exported.
        kept: Brings changes to disk first; why that does not go, else nothing.
    """
    if refused := refusal():
        # before a path is asked for: what is said of one tells what is there
        screen.notify(str(refused), severity="error", markup=False, timeout=4)
        return

    def told(how: Told) -> None:
        text, failed = how
        screen.app.notify(text, severity="error" if failed else "information", markup=False, timeout=8)

    def answered(file: str | None) -> None:
        if file is not None:
            background = Background(partial(screen.app.notify, severity="error", markup=False))
            background.submit(lambda: _exported(file, workspace, kept), told)
            background.close()

    screen.app.push_screen(ExportPrompt(), answered)


def _exported(file: str, workspace: Workspace, kept: Callable[[], str]) -> Told:
    if why := kept():
        return f"Nothing is exported: {why}", True
    try:
        # an absolute path stays what it is
        export = publish(workspace.root / os.path.expanduser(file), workspace)
    except JudgeError as error:
        return str(error), True
    said = "is written" if export.stale else "is up to date"
    newer = f"{counted(len(export.newer), 'scorecard')} of a newer schema: not all may be in it."
    told = (f"{file}: the scoreboard {said}.", export.left_out, newer if export.newer else "")
    return " ".join(filter(None, told)), False
