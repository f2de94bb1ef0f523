"""Bookmarks in the code of a comparison."""

from __future__ import annotations

from textual.screen import Screen

from judge_tui.tui.code.bookmarks import Bookmarks
from judge_tui.tui.code.jumps import Place
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.session import letter_of
from judge_tui.tui.widgets.code_pane import CodePane

__all__ = ["Bookmarking"]


class Bookmarking:
    """Sets bookmarks, and goes to them.

    Args:
        screen: Where it is told.
        panes: The code.
        places: Goes to one.
    """

    def __init__(self, screen: Screen[None], panes: Panes, places: Places) -> None:
        self._screen, self._panes, self._places = screen, panes, places
        self._bookmarks: dict[int, Bookmarks] = {}

    def of(self, pane: CodePane) -> Bookmarks:
        """The bookmarks of a pane's submission."""
        found = self._bookmarks.get(pane.index)
        if found is None:
            found = self._bookmarks[pane.index] = Bookmarks(pane.submission.path)
        return found

    def show(self, pane: CodePane) -> None:
        """Show them beside the file in view, moved to where their lines stand."""
        marks = self.of(pane)
        if pane.file and marks.within(pane.file):
            marks.settle(pane.file, pane.source.bare.lines)
        pane.view.flag(marks.within(pane.file))

    def toggle(self) -> None:
        """Set a bookmark on the line of the cursor, or take it away."""
        pane = self._panes.current
        if not pane.file:
            return
        line = pane.view.cursor
        marks = self.of(pane)
        marks.renew()
        marks.settle(pane.file, pane.source.bare.lines)
        added = marks.toggle(pane.file, line, pane.source.bare.lines[line])
        marks.save()
        self.show(pane)
        self._screen.notify(f"bookmark {'set' if added else 'taken away'}", markup=False, timeout=2)

    def step(self, step: int) -> None:
        """Go to the next bookmark, or the one before."""
        pane = self._panes.current
        places = [(mark.file, mark.line) for mark in self.of(pane)]
        self._places.step(pane, places, step, "bookmark", "No bookmarks in this submission.")

    def choose(self) -> None:
        """Offer all bookmarks."""
        from judge_tui.tui.screens.picker import Choice, Picker

        choices = [
            Choice(
                pane.hide(mark.text) or "(blank line)",
                f"{letter_of(pane.index)} · {pane.hide(mark.file)}:{mark.line + 1}",
                Place(pane.index, mark.file, mark.line),
            )
            for pane in self._panes
            for mark in self.of(pane)
            if mark.file in pane.submission.files
        ]
        if not choices:
            self._screen.notify("No bookmarks yet.", markup=False, timeout=2)
            return

        def chosen(value: object) -> None:
            if isinstance(value, Place):
                self._places.visit(value)

        self._screen.app.push_screen(Picker("Bookmarks", choices, self._places.here), chosen)
