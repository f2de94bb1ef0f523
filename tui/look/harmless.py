"""Texts of submissions in places that Textual draws by itself: messages and the titles of boxes."""

from __future__ import annotations

from typing import Any, TypeVar

from judge_tui.tui.look.glyphs import neutral
from textual.app import App

__all__ = ["HarmlessApp", "box_title"]

Result = TypeVar("Result")


def box_title(text: str) -> str:
    """A text as the title of a box: no control character, and no markup."""
    return neutral(text).replace("\\", "⧵").replace("[", "\\[")


class HarmlessApp(App[Result]):
    """An app whose messages carry no control characters to the terminal, whatever they quote."""

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """Show a message; Textual itself would hand its escape sequences on."""
        super().notify(neutral(message, keep_newlines=True), title=neutral(title), **options)
