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
#: Seconds until a message is noticed, and characters that are read in one from then on.
_NOTICED_S, _READ_PER_S = 1.0, 20


def box_title(text: str) -> str:
    """A text as the title of a box: no control character, and no markup."""
    return neutral(text).replace("\\", "⧵").replace("[", "\\[")


class HarmlessApp(App[Result]):
    """An app whose messages carry no control characters to the terminal, and do not pile up under a key."""

    def notify(self, message: str, *, title: str = "", timeout: float | None = None, **options: Any) -> None:
        """Show a message; Textual itself would hand its escape sequences on."""
        told, title = neutral(message, keep_newlines=True), neutral(title)
        wanted = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        super().notify(told, title=title, timeout=_read_in(title + told, wanted), **options)

    def _on_notify(self, event: Notify) -> None:
        # Textual's own handler comes behind this one
        if _is_echo(event.notification):
            for shown in filter(_is_echo, list(self._notifications)):
                self._unnotify(shown, refresh=False)


def _read_in(text: str, seconds: float) -> float:
    """Seconds that a message stays: as long as was meant, and as it takes to be read."""
    needed = _NOTICED_S + len(text) / _READ_PER_S
    return max(seconds, min(needed, _ECHO_S) if seconds <= _ECHO_S else needed)


def _is_echo(told: Notification) -> bool:
    return told.severity == "information" and told.timeout <= _ECHO_S
