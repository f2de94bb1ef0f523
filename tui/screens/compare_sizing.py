"""Making parts of a comparison larger and smaller, by keys and by dragging their borders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Offset
from textual.screen import Screen

from judge_tui.tui.look.layout import Arrangement, Situation, Sizes, Wishes, drag, grow
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.counted import times
from judge_tui.tui.widgets.rubric_pane import RubricPane

__all__ = ["CompareSizing"]


class CompareSizing(Screen[None]):
    """The part of the comparison that changes the sizes of the others."""

    panes: list[CodePane]
    rubric_pane: RubricPane
    checks_pane: ChecksPane
    wishes: Wishes
    _pane: int
    #: ``rubric``, ``checks`` or a code pane, whose border follows the mouse.
    _dragged: int | str | None = None

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        @property
        def arrangement(self) -> Arrangement: ...
        @property
        def _situation(self) -> Situation: ...
        def _wish(self, **changes: object) -> None: ...

    def action_grow(self, steps: int) -> None:
        wishes = grow(self._situation, steps * times(self.focused))
        if wishes == self.wishes:
            self.notify("Nothing can give way here.", markup=False, timeout=2)
        self._wish(sizes=wishes.sizes)

    def action_even(self) -> None:
        self._wish(sizes=Sizes())

    def take_sizes(self, sizes: Sizes) -> None:
        """Show the parts as large as they were left."""
        self._wish(sizes=sizes)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragged = self._border_at(event.screen_offset) if event.button == 1 else None
        if self._dragged is not None:
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        what, at = self._dragged, event.screen_offset
        if what is None:
            return
        if not event.button:
            # it was let go where no terminal told
            self.on_mouse_up()
            return
        if what == "checks":
            size = self.checks_pane.region.bottom - at.y
        elif what == "rubric":
            size = self.rubric_pane.region.right - at.x
        else:
            size = at.x - self.panes[int(what)].region.x
        wishes = drag(self._situation, what, size)
        if wishes != self.wishes:
            self._wish(sizes=wishes.sizes)

    def on_mouse_up(self) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()

    def on_mouse_release(self) -> None:
        # a dialog came in between
        self._dragged = None

    def _border_at(self, at: Offset) -> int | str | None:
        """The part whose border is at a place of the screen."""
        now = self.arrangement
        if now.checks and self.checks_pane.title_bar.region.contains_point(at):
            return "checks"
        parts = [*(self.panes[index] for index in now.panes), *([self.rubric_pane] if now.rubric else [])]
        whats: tuple[int | str, ...] = (*now.panes[:-1], "rubric")
        for what, part in zip(whats, parts[1:], strict=False):
            if part.region.contains_point(at) and at.x == part.region.x:
                return what
        return None
