"""Room for messages: the line at the bottom of a screen is as high as what they say, and nothing is covered.

Reaches for ``_refresh_notifications``, ``_unnotify`` and the list of messages, by which alone one hears of
those that come and go, and for the rack that shows them.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from textual.app import App
from textual.content import Content
from textual.notifications import Notification
from textual.screen import Screen

from judge_tui.tui.textual_private.covered import racks_of

__all__ = ["RoomyApp"]

Result = TypeVar("Result")
#: Columns of a message that hold no text: its border, and a blank at either side.
_MARGIN = 3
#: Seconds in which a message comes to stand on the screen.
_MOUNTED_S = 0.1


class RoomyApp(App[Result]):
    """An app whose messages lie over the line of keys, which is made as high as they need."""

    # Textual keeps room for a scrollbar that is never seen: what lies there would be read with the message;
    # and a rack that is not visible cannot be scrolled
    CSS = """
    ToastRack { visibility: visible; scrollbar-size: 0 0; }
    ToastRack { margin-bottom: 0; max-height: 50%; align: left bottom; }
    ToastHolder { align-horizontal: left; }
    Toast { width: 100%; max-width: 100%; margin-top: 0; padding: 0 1; background: $panel; }
    """

    def _refresh_notifications(self) -> None:
        super()._refresh_notifications()
        self.make_room()

    def _unnotify(self, notification: Notification, refresh: bool = True) -> None:
        super()._unnotify(notification, refresh)
        self.make_room()

    def make_room(self) -> None:
        """Make the line of keys as high as the messages that stand on it."""
        if not self.screen_stack:
            return
        screen: Screen[Any] = self.screen
        racks, most = [*racks_of(screen)], max(screen.size.height // 2, 1)
        rows = sum(map(self._rows, self._notifications)) if racks else 0
        for line in screen.query("KeyHints"):
            line.styles.height = min(max(rows, 1), most)
        if rows > most:
            for rack in racks:
                # the newest are seen, once they are there
                screen.set_timer(_MOUNTED_S, partial(rack.scroll_end, animate=False, force=True))

    def _rows(self, told: Notification) -> int:
        text = f"{told.title}\n{told.message}" if told.title else told.message
        return Content(text).get_height({}, max(self.screen.size.width - _MARGIN, 1))
