"""Code panes of a comparison that move together: line by line, or function by function."""

from __future__ import annotations

from typing import ClassVar

from judge_tui.tui.alignment import Alignment, match
from judge_tui.tui.source import Source
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView
from textual.screen import Screen

__all__ = ["CompareSync"]


class CompareSync(Screen[None]):
    """The part of the comparison that lets the other panes follow the one in focus.

    Attributes:
        sync: ``""`` each pane for itself, ``lines`` or ``symbols``.
    """

    #: How the panes move, and what is said when they begin to.
    SYNCS: ClassVar = {
        "": "panes scroll alone",
        "lines": "panes scroll together, line by line",
        "symbols": "panes follow the function of the cursor",
    }

    panes: list[CodePane]
    sync = ""
    _alignments: dict[tuple[int, int], tuple[Source, Source, Alignment]]

    def action_sync(self) -> None:
        ways = list(self.SYNCS)
        self.sync = ways[(ways.index(self.sync) + 1) % len(ways)]
        self.notify(self.SYNCS[self.sync], markup=False, timeout=2)
        for pane in self.panes:
            pane.tell_match("")
        leader = next((pane for pane in self.panes if pane.view.has_focus), None)
        if leader is not None and self.sync == "symbols":
            self._moved(leader)

    def _scrolled(self, view: CodeView, line: int) -> None:
        # a pane that follows must not lead: only the one in focus does
        if self.sync == "lines" and view.has_focus:
            for pane in self.panes:
                if pane.view is not view:
                    pane.view.follow(line)

    def _moved(self, leader: CodePane) -> None:
        if self.sync != "symbols" or not leader.view.has_focus:
            return
        for pane in self.panes:
            if pane is not leader:
                self._align(leader, pane)

    def _align(self, leader: CodePane, pane: CodePane) -> None:
        known = self._alignments.get((leader.index, pane.index))
        if known is None or known[0] is not leader.source or known[1] is not pane.source:
            self._match(leader, pane)
            return
        alignment, cursor = known[2], leader.view.cursor
        found, line = alignment.around(cursor), alignment.line(cursor)
        if line is not None:
            row = leader.view.rows.row_of(cursor) - leader.view.scroll_offset.y
            pane.view.align(line, row)
        if found is None:
            pane.tell_match("")
        else:
            ours, theirs = found
            pane.tell_match(f"≈ {ours.name}" if theirs is not None else f"≠ nothing like {ours.name}")

    def _match(self, leader: CodePane, pane: CodePane) -> None:
        """Match the two files in the background; they are aligned when that is done."""
        if not (leader.settled and pane.settled):
            # the outline of a file is still being read; the next move asks again
            return
        sources = leader.source, pane.source
        sides = (sources[0], leader.view.symbols), (sources[1], pane.view.symbols)

        def matched(alignment: Alignment) -> None:
            self._alignments[leader.index, pane.index] = (*sources, alignment)
            self._alignments[pane.index, leader.index] = (*reversed(sources), alignment.reversed())
            if (leader.source, pane.source) == sources:
                self._moved(leader)

        leader._submit(lambda: match(*sides), matched)
