"""Going to places in the code of a comparison, across files, and the way back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from textual.screen import Screen

from judge_tui.tui.code.jumps import JumpList, Place
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.counted import past_end, times

__all__ = ["Places"]


class Places:
    """Goes to places and comes back.

    Args:
        screen: Where it is told.
        session: Says how a name is shown.
        panes: The code.
        focus: Brings a code pane into view and focuses it.

    Attributes:
        jumps: Where the reader came from.
    """

    def __init__(
        self, screen: Screen[None], session: Session, panes: Panes, focus: Callable[[int], None]
    ) -> None:
        self._screen, self._session, self._panes, self._focus = screen, session, panes, focus
        self.jumps = JumpList()
        self._visiting = False
        for pane in panes:
            pane.leaving = self._left

    @property
    def here(self) -> Place:
        """Where the reader is."""
        pane = self._panes.current
        return Place(self._panes.at, pane.file, pane.view.cursor)

    def visit(self, place: Place, *, leave: bool = True) -> None:
        """Go to a place of any pane.

        Args:
            place: Where to.
            leave: Remember where the reader was.
        """
        if leave:
            self.jumps.leave(self.here)
        self._visiting = True
        try:
            self._focus(place.pane)
            pane = self._panes[place.pane]
            if place.file in pane.submission.files:
                pane.open(place.file, place.line)
            else:
                self._screen.notify(f"{pane.hide(place.file)} is no longer there.", markup=False, timeout=3)
        finally:
            self._visiting = False

    def jump(self, index: int, file: str, line: int) -> None:
        """Show a 1-based line of a file in a submission's pane, and focus it."""
        if file not in self._panes[index].submission.files:
            self._screen.notify(f"{self._session.hide(file)} is not among the files.", markup=False)
            return
        self.visit(Place(index, file, line - 1))

    def _left(self, pane: CodePane, line: int) -> None:
        # a pane that follows another one goes nowhere by itself
        if not self._visiting and pane.index == self._panes.at and pane.file:
            self.jumps.leave(Place(pane.index, pane.file, line))

    # the way back

    def back(self) -> None:
        """Go back to where jumps came from."""
        for _ in range(times(self._screen.focused)):
            if not self._return(self.jumps.back(self.here), "back"):
                break

    def forward(self) -> None:
        """Go forward again."""
        for _ in range(times(self._screen.focused)):
            if not self._return(self.jumps.forward(self.here), "forward"):
                break

    def _return(self, place: Place | None, where: str) -> bool:
        if place is None:
            self._screen.notify(f"No jump leads {where} from here.", markup=False, timeout=2)
            return False
        self.visit(place, leave=False)
        return True

    # the next of some places, in any file

    def step(
        self, pane: CodePane, places: Sequence[tuple[str, int]], step: int, what: str, none: str
    ) -> None:
        """Go to the next of some places after the cursor, in the order of the files, round the end."""
        files = pane.submission.files
        stops = sorted({(files.index(file), line) for file, line in places if file in files})
        if not stops:
            self._screen.notify(none, markup=False, timeout=2)
            return
        here = (files.index(pane.file) if pane.file in files else -1, pane.view.cursor)
        at = bisect_right(stops, here) if step > 0 else bisect_left(stops, here) - 1
        at += step * (times(self._screen.focused) - 1)
        file, line = stops[at % len(stops)]
        if at != at % len(stops):
            alone = len(stops) == 1 and here == stops[0]
            told = f"this is the only {what}" if alone else past_end(what, step)
            self._screen.notify(told, markup=False, timeout=2)
        pane.open(files[file], line)

    # lines by number

    def ask_line(self) -> None:
        """Ask for a line by its number, and go there."""
        from judge_tui.tui.screens.line_prompt import LinePrompt

        pane = self._panes.current
        last = len(pane.source)

        def chosen(line: int | None) -> None:
            if line is not None:
                pane.view.go(line - 1, centre=True)

        self._screen.app.push_screen(LinePrompt(pane.hide(pane.file), pane.view.cursor + 1, last), chosen)
