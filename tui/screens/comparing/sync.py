"""Code panes of a comparison that go together: line by line, or function by function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.code.source import Source
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView

if TYPE_CHECKING:
    from judge_tui.tui.code.alignment import Alignment

__all__ = ["Sync"]

#: How the panes move, and what is said when they begin to.
_WAYS = {
    "": "panes scroll alone",
    "lines": "panes scroll together, line by line",
    "symbols": "panes follow the function of the cursor",
}
#: Seconds between the frames of two panes that leap.
_APART_S = 0.008


class Sync:
    """Holds the panes against each other, and has them follow the one in focus.

    Args:
        screen: Where it is told.
        panes: The code.

    Attributes:
        way: How the panes follow: ``""`` not at all, ``lines`` or ``symbols``.
        alignments: What is known of two panes: the files, and what answers what in them.
    """

    def __init__(self, screen: Screen[None], panes: Panes) -> None:
        self._screen, self._panes = screen, panes
        self.way = ""
        self.alignments: dict[tuple[int, int], tuple[Source, Source, Alignment]] = {}
        for pane in panes:
            pane.view.scrolled = self._scrolled
            pane.moved = self._moved

    # following

    def next_way(self) -> None:
        """Have the panes follow in the next way."""
        ways = list(_WAYS)
        self.way = ways[(ways.index(self.way) + 1) % len(ways)]
        self._screen.notify(_WAYS[self.way], markup=False, timeout=2)
        for pane in self._panes:
            pane.tell_match("")
        leader = next((pane for pane in self._panes if pane.view.has_focus), None)
        if leader is not None and self.way == "symbols":
            self._moved(leader)

    def _scrolled(self, view: CodeView, line: int) -> None:
        # a pane that follows must not lead: only the one in focus does
        if self.way == "lines" and view.has_focus:
            self._level(view, line)

    def _level(self, view: CodeView, line: int) -> None:
        for pane in self._panes:
            if pane.view is not view:
                pane.view.follow(line)

    def catch_up(self, leader: CodePane) -> None:
        """Follow a pane that has moved while it was not in focus."""
        view = leader.view
        if self.way == "symbols":
            self._follow(leader)
        elif self.way == "lines":
            self._level(view, view.rows.at(view.scroll_offset.y)[0])

    def _moved(self, leader: CodePane) -> None:
        if self.way == "symbols" and leader.view.has_focus:
            self._follow(leader)

    def lead(self, leader: CodePane) -> None:
        """Say what answers the function of another pane from now on; none moves before its cursor does."""
        if self.way == "symbols" and self._panes.current is leader:
            self._follow(leader, moving=False)

    def _follow(self, leader: CodePane, *, moving: bool = True) -> None:
        leader.tell_match("")
        leapt = False
        for pane in self._panes:
            if pane is leader:
                continue
            if leapt:
                # two panes of which every row is another one are too much for one frame of a large screen
                self._screen.set_timer(_APART_S, partial(self._behind, leader, pane))
            else:
                leapt = self._align(leader, pane, moving=moving)

    def _behind(self, leader: CodePane, pane: CodePane) -> None:
        if self.way == "symbols" and self._panes.current is leader:
            self._align(leader, pane, moving=True)

    def _align(self, leader: CodePane, pane: CodePane, *, moving: bool) -> bool:
        """Have a pane stand where another one does; whether it shows other rows than before."""
        alignment = self.alignment(leader, pane)
        if alignment is None:
            pane.tell_match("")
            self.match(leader, pane, partial(self._moved if moving else self.lead, leader))
            return False
        cursor = leader.view.cursor
        found, line = alignment.around(cursor), alignment.line(cursor)
        leapt = False
        if line is not None and moving:
            row = leader.view.rows.row_of(cursor) - leader.view.scroll_offset.y
            leapt = pane.view.align(line, row)
        if found is None:
            pane.tell_match("")
        else:
            ours, theirs = found
            pane.tell_match(f"≈ {ours.name}" if theirs is not None else "≠ no like")
        return leapt

    def join(self, pane: CodePane) -> None:
        """Have a file that was just opened stand where another pane is, where that shows the like of it."""
        if not pane.opening.untouched or not pane.view.symbols:
            return
        leader = next((one for one in self._panes if one is not pane and _is_read(one)), None)
        if leader is None:
            return
        alignment = self.alignment(leader, pane)
        if alignment is None:
            self._match(leader, pane, partial(self.join, pane))
            return
        cursor = leader.view.cursor
        found, line = alignment.around(cursor), alignment.line(cursor)
        if line is not None and found is not None and found[1] is not None:
            pane.opening.place(line, leader.view.rows.row_of(cursor) - leader.view.scroll_offset.y)

    # matching

    def alignment(self, leader: CodePane, pane: CodePane) -> Alignment | None:
        """What is known of the two files in view, as far as their definitions are known."""
        known = self.alignments.get((leader.index, pane.index))
        if known is None or known[0] is not leader.source or known[1] is not pane.source:
            return None
        found = known[2]
        # a file that has just come into view has no definitions yet
        read = found.left is leader.view.symbols and found.right is pane.view.symbols
        return found if read else None

    def match(self, leader: CodePane, pane: CodePane, then: Callable[[], None]) -> None:
        """Match the two files in the background, then go on."""
        if not (leader.settled and pane.settled):
            # an outline is still being read, or matched; the next key asks again
            return
        self._match(leader, pane, then)

    def _match(self, leader: CodePane, pane: CodePane, then: Callable[[], None]) -> None:
        from judge_tui.tui.code.alignment import match

        sources = leader.source, pane.source
        sides = (sources[0], leader.view.symbols), (sources[1], pane.view.symbols)

        def matched(alignment: Alignment) -> None:
            self.alignments[leader.index, pane.index] = (*sources, alignment)
            self.alignments[pane.index, leader.index] = (sources[1], sources[0], alignment.reversed())
            if (leader.source, pane.source) == sources:
                then()

        leader.submit(lambda: match(*sides), matched)


def _is_read(pane: CodePane) -> bool:
    """Whether somebody has gone to a definition in a pane."""
    return not pane.opening.untouched and pane.view.symbol_at(pane.view.cursor) is not None
