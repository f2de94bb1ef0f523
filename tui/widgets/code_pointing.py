"""The mouse in the code: a click goes to a line, a drag selects lines, a wheel scrolls sideways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_tui.tui.widgets.code_canvas import CodeCanvas
from textual import events

__all__ = ["CodePointing"]

#: Columns of a turn of the wheel sideways.
_SLIDE = 8


class CodePointing(CodeCanvas):
    """The part of the code view that the mouse moves."""

    #: Row of the file that the button went down on, while it is down.
    _pressed: int | None = None
    _dragging = False

    if TYPE_CHECKING:
        # what the code view itself brings
        def go(self, line: int, *, centre: bool = False, extend: bool = False) -> None: ...
        def drop_selection(self) -> None: ...
        def drag_to(self, line: int) -> None: ...
        def action_slide(self, columns: int) -> None: ...

    def _line_at(self, row: int) -> int:
        """The line that a row of the file shows; the nearest one above or below them all."""
        return min(self.rows.at(min(max(row, 0), len(self.rows) - 1))[0], len(self.source) - 1)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragging = False
        if event.button == 1 and not event.shift:
            self._pressed = self.scroll_offset.y + event.y
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._pressed is None:
            return
        if not event.button:
            # it was let go where no terminal told
            self.on_mouse_up()
            return
        row = self.scroll_offset.y + event.y
        if not self._dragging and row != self._pressed:
            self._dragging = True
            self.anchor = self._line_at(self._pressed)
        if self._dragging:
            self.drag_to(self._line_at(row))

    def on_mouse_up(self) -> None:
        self._pressed = None
        if self.app.mouse_captured is self:
            self.release_mouse()

    def on_mouse_release(self) -> None:
        # a dialog came in between
        self._pressed = None

    def on_click(self, event: events.Click) -> None:
        if self._dragging:
            return
        if self.anchor is not None and not event.shift:
            self.drop_selection()
        self.go(self._line_at(self.scroll_offset.y + event.y), extend=event.shift)

    def on_mouse_scroll_right(self) -> None:
        self.action_slide(_SLIDE)

    def on_mouse_scroll_left(self) -> None:
        self.action_slide(-_SLIDE)
