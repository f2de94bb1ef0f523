"""A question with a few answers, one key each; Escape puts it off."""

from __future__ import annotations

from collections.abc import Mapping

from judge_tui.tui.harmless import box_title
from judge_tui.tui.screens.dialog import Dialog
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

__all__ = ["Question"]


class Question(Dialog[str]):
    """Gives the key of the answer; empty when put off."""

    def __init__(self, title: str, text: str, answers: Mapping[str, str]) -> None:
        super().__init__()
        self._title, self._text, self._answers = title, text, answers

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._title)
            yield Static(self._text, markup=False)
            yield Static("")
            for key, answer in self._answers.items():
                yield Static(f"  {key}    {answer}", markup=False)
            yield Static("  esc  later", classes="hint", markup=False)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss("")
        elif event.character in self._answers:
            self.dismiss(event.character)
