"""The mouse in the code: a click goes to a line, a drag selects lines, a wheel scrolls sideways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.timer import Timer

from judge_tui.tui.widgets.code_canvas import CodeCanvas

__all__ = ["CodePointing"]

#: Columns of a turn of the wheel sideways.
_SLIDE = 8
#: Seconds between two steps while a drag is held past the edge.
_DRAG_S = 0.1


class CodePointing(CodeCanvas):
    """The part of the code view that the mouse moves."""

    #: Row of the file that the button went down on, while it is down.
    _pressed: int | None = None
    _dragging = False
    #: Row of the view that the mouse is held at past its edge, and what scrolls on meanwhile.
    _held = 0
    _drags_on: Timer | None = None

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
            self.selected_from = self._line_at(self._pressed)
        if self._dragging:
            self.drag_to(self._line_at(row))
            self._hold(event.y)

    def _hold(self, y: int) -> None:
        """Scroll on while the mouse is held past the edge; the faster, the further."""
        self._held = y
        if 0 <= y < self.size.height:
            self._let_go()
        elif self._drags_on is None:
            self._drags_on = self.set_interval(_DRAG_S, self._drag_on)

    def _drag_on(self) -> None:
        line = self._line_at(self.scroll_offset.y + self._held)
        if line != self.cursor:
            self.drag_to(line)

    def _let_go(self) -> None:
        if self._drags_on is not None:
            self._drags_on.stop()
            self._drags_on = None

    def on_mouse_up(self) -> None:
        self._pressed = None
        self._let_go()
        if self.app.mouse_captured is self:
            self.release_mouse()

    def on_mouse_release(self) -> None:
        # a dialog came in between
        self._pressed = None
        self._let_go()

    def on_click(self, event: events.Click) -> None:
        if self._dragging:
            return
        if self.selected_from is not None and not event.shift:
            self.drop_selection()
        self.go(self._line_at(self.scroll_offset.y + event.y), extend=event.shift)

    def on_mouse_scroll_right(self) -> None:
        self.action_slide(_SLIDE)

    def on_mouse_scroll_left(self) -> None:
        self.action_slide(-_SLIDE)
