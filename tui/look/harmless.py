"""Texts of submissions in places that Textual draws by itself: messages and the titles of boxes."""

from __future__ import annotations

from typing import Any, TypeVar

from textual.app import App
from textual.notifications import Notification, Notify

from judge_tui.tui.look.glyphs import neutral

__all__ = ["HarmlessApp", "box_title"]

Result = TypeVar("Result")

#: Seconds. What stays no longer only echoes a key, and says nothing that the next one does not replace.
_ECHO_S = 3


def box_title(text: str) -> str:
    """A text as the title of a box: no control character, and no markup."""
    return neutral(text).replace("\\", "⧵").replace("[", "\\[")


class HarmlessApp(App[Result]):
    """An app whose messages carry no control characters to the terminal, and do not pile up under a key."""

    # Textual keeps room for a scrollbar that is never seen: what lies there would be read with the message
    CSS = """
    ToastRack { scrollbar-size: 0 0; }
    """

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """Show a message; Textual itself would hand its escape sequences on."""
        super().notify(neutral(message, keep_newlines=True), title=neutral(title), **options)

    def _on_notify(self, event: Notify) -> None:
        # Textual's own handler comes behind this one
        if _is_echo(event.notification):
            for shown in filter(_is_echo, list(self._notifications)):
                self._unnotify(shown, refresh=False)


def _is_echo(told: Notification) -> bool:
    return told.severity == "information" and told.timeout <= _ECHO_S
