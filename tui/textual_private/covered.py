"""A screen behind a dialog: drawn anew when something on it changes, and not again and again.

Reaches for ``_toast.ToastRack``, which holds the messages of a screen, for its own compositor, and its timer:
neither has a public name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets._toast import ToastRack

from judge_tui.tui.textual_private.compositor import DirectCompositor

__all__ = ["CoveredScreen", "racks_of"]

Result = TypeVar("Result")


def racks_of(screen: Screen[Any]) -> Iterable[Widget]:
    """What holds the messages of a screen: none where it shows none."""
    return screen.query(ToastRack)


class CoveredScreen(Screen[Result]):
    """A screen that dialogs open over.

    Textual hands what has changed on a covered screen to the dialog, which draws all that lies behind it. It
    then leaves the covered screen marked as changed, so that all is drawn at every turn of its timers.

    Attributes:
        changes: How often something on it has changed.
    """

    changes = 0

    def __init__(self, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name, id, classes)
        self._compositor = DirectCompositor()

    def on_screen_suspend(self) -> None:
        # the dialog shows the messages now
        for rack in racks_of(self):
            rack.display = False

    def on_mount(self) -> None:
        self.refresh()

    @property
    def _held(self) -> bool:
        """Whether a key on its way draws the screen, when it has had its effect."""
        return self.app.screen is self and getattr(self.app, "holds_drawing", False)

    def _on_timer_update(self) -> None:
        # its timer goes on, and comes back to it
        if not self._held:
            super()._on_timer_update()

    def _compositor_refresh(self) -> None:
        if not self.is_mounted:
            # what is on it is still being put together: it is drawn once, when all is there
            return
        if self._held:
            self._repaint_required = True
            self._update_timer.resume()
            return
        self.changes += 1
        super()._compositor_refresh()
        if self.app.screen is not self:
            self._repaint_required = False
            self._exchange_repaint_regions()
