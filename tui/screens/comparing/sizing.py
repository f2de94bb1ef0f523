"""Making parts of a comparison larger and smaller, by keys and by dragging their borders."""

from __future__ import annotations

from textual import events
from textual.geometry import Offset
from textual.screen import Screen

from judge_tui.tui.look.layout import Sizes, drag, grow
from judge_tui.tui.screens.comparing.layout import Layout
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.counted import times
from judge_tui.tui.widgets.rubric_pane import RubricPane

__all__ = ["Sizing"]


class Sizing:
    """Changes the sizes of the parts.

    Args:
        screen: What they stand on, which has the mouse while a border is dragged.
        layout: What is in view.
        panes: The code.
        rubric: The rubric's pane.
        checks: The checks' pane.
    """

    def __init__(
        self, screen: Screen[None], layout: Layout, panes: Panes, rubric: RubricPane, checks: ChecksPane
    ) -> None:
        self._screen, self._layout = screen, layout
        self._panes, self._rubric, self._checks = panes, rubric, checks
        #: ``rubric``, ``checks`` or a code pane, whose border follows the mouse.
        self._dragged: int | str | None = None

    def grow(self, steps: int) -> None:
        """Make the part in focus larger by some steps, or smaller."""
        wishes = grow(self._layout.situation, steps * times(self._screen.focused))
        if wishes == self._layout.wishes:
            self._screen.notify("Nothing can give way here.", markup=False, timeout=2)
        self._layout.wish(sizes=wishes.sizes)

    def even(self) -> None:
        """Show all parts as large as they are by themselves."""
        self._layout.wish(sizes=Sizes())

    def press(self, event: events.MouseDown) -> None:
        """The mouse is pressed, maybe on a border."""
        self._dragged = self._border_at(event.screen_offset) if event.button == 1 else None
        if self._dragged is not None:
            self._screen.capture_mouse()

    def move(self, event: events.MouseMove) -> None:
        """The mouse has moved, maybe with a border."""
        what, at = self._dragged, event.screen_offset
        if what is None:
            return
        if not event.button:
            # it was let go where no terminal told
            self.let_go()
            return
        if what == "checks":
            size = self._checks.region.bottom - at.y
        elif what == "rubric":
            size = self._rubric.region.right - at.x
        else:
            size = at.x - self._panes[int(what)].region.x
        wishes = drag(self._layout.situation, what, size)
        if wishes != self._layout.wishes:
            self._layout.wish(sizes=wishes.sizes)

    def let_go(self) -> None:
        """The mouse is pressed no more."""
        if self._dragged is not None:
            self._dragged = None
            self._screen.release_mouse()

    def lose_mouse(self) -> None:
        """A dialog came in between."""
        self._dragged = None

    def _border_at(self, at: Offset) -> int | str | None:
        """The part whose border is at a place of the screen."""
        now = self._layout.arrangement
        if now.checks and self._checks.title_bar.region.contains_point(at):
            return "checks"
        parts = [*(self._panes[index] for index in now.panes), *([self._rubric] if now.rubric else [])]
        whats: tuple[int | str, ...] = (*now.panes[:-1], "rubric")
        for what, part in zip(whats, parts[1:], strict=False):
            if part.region.contains_point(at) and at.x == part.region.x:
                return what
        return None
