"""Waiting for something that takes seconds: how long it has taken so far, and a key that breaks it off."""

from __future__ import annotations

import time
from collections.abc import Coroutine
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Static

from judge_tui.checks.errors import JudgeError
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.screens.dialog import Dialog

__all__ = ["Waiting"]

_LOOK_S = 0.2


class Waiting(Dialog[str | None]):
    """Gives why it went wrong, nothing where it went well, and ``None`` where it was broken off.

    Args:
        what: What is waited for.
        work: It; cancelled when it is broken off.
    """

    BINDINGS: ClassVar = named("waiting", [Binding("escape,x", "cancel", "break it off")])

    def __init__(self, what: str, work: Coroutine[Any, Any, None]) -> None:
        super().__init__()
        self._what, self._work, self._begun = what, work, time.monotonic()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._told(), id="told", markup=False)
            yield Static(f"{key_for(self, 'cancel')} breaks it off", classes="hint", markup=False)

    def on_mount(self) -> None:
        self.set_interval(_LOOK_S, lambda: self.query_one("#told", Static).update(self._told()))
        self.run_worker(self._run(), group="work")

    def _told(self) -> str:
        return f"{self._what} … {time.monotonic() - self._begun:.0f} s"

    async def _run(self) -> None:
        try:
            await self._work
        except JudgeError as error:
            self.dismiss(str(error))
        else:
            self.dismiss("")

    def action_cancel(self) -> None:
        self.dismiss(None)
