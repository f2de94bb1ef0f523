"""Code panes of a comparison that go together: line by line, function by function, or as a diff."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.screen import Screen

from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import Symbol
from judge_tui.tui.session import letter_of
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView

if TYPE_CHECKING:
    from judge_tui.tui.code.alignment import Alignment
    from judge_tui.tui.code.line_diff import LineDiff, Row

__all__ = ["CompareSync"]


class CompareSync(Screen[None]):
    """The part of the comparison that holds the panes against each other.

    Attributes:
        sync: How the panes follow the one in focus: ``""`` not at all, ``lines`` or ``symbols``.
    """

    #: How the panes move, and what is said when they begin to.
    SYNCS: ClassVar = {
        "": "panes scroll alone",
        "lines": "panes scroll together, line by line",
        "symbols": "panes follow the function of the cursor",
    }

    panes: list[CodePane]
    sync = ""
    _pane: int
    _alignments: dict[tuple[int, int], tuple[Source, Source, Alignment]]

    # following

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
            self._level(view, line)

    def _level(self, view: CodeView, line: int) -> None:
        for pane in self.panes:
            if pane.view is not view:
                pane.view.follow(line)

    def catch_up(self, leader: CodePane) -> None:
        """Follow a pane that has moved while it was not in focus."""
        view = leader.view
        if self.sync == "symbols":
            self._follow(leader)
        elif self.sync == "lines":
            self._level(view, view.rows.at(view.scroll_offset.y)[0])

    def _moved(self, leader: CodePane) -> None:
        if self.sync == "symbols" and leader.view.has_focus:
            self._follow(leader)

    def lead(self, leader: CodePane) -> None:
        """Say what answers the function of another pane from now on; none moves before its cursor does."""
        if self.sync == "symbols" and self.panes[self._pane] is leader:
            self._follow(leader, moving=False)

    def _follow(self, leader: CodePane, *, moving: bool = True) -> None:
        leader.tell_match("")
        for pane in self.panes:
            if pane is not leader:
                self._align(leader, pane, moving=moving)

    def _align(self, leader: CodePane, pane: CodePane, *, moving: bool) -> None:
        alignment = self._alignment(leader, pane)
        if alignment is None:
            pane.tell_match("")
            self._match(leader, pane, partial(self._moved if moving else self.lead, leader))
            return
        cursor = leader.view.cursor
        found, line = alignment.around(cursor), alignment.line(cursor)
        if line is not None and moving:
            row = leader.view.rows.row_of(cursor) - leader.view.scroll_offset.y
            pane.view.align(line, row)
        if found is None:
            pane.tell_match("")
        else:
            ours, theirs = found
            pane.tell_match(f"≈ {ours.name}" if theirs is not None else "≠ no like")

    # matching

    def _alignment(self, leader: CodePane, pane: CodePane) -> Alignment | None:
        """What is known of the two files in view, as far as their definitions are known."""
        known = self._alignments.get((leader.index, pane.index))
        if known is None or known[0] is not leader.source or known[1] is not pane.source:
            return None
        found = known[2]
        # a file that has just come into view has no definitions yet
        read = found.left is leader.view.symbols and found.right is pane.view.symbols
        return found if read else None

    def _match(self, leader: CodePane, pane: CodePane, then: Callable[[], None]) -> None:
        """Match the two files in the background, then go on."""
        if not (leader.settled and pane.settled):
            # an outline is still being read, or matched; the next key asks again
            return
        from judge_tui.tui.code.alignment import match

        sources = leader.source, pane.source
        sides = (sources[0], leader.view.symbols), (sources[1], pane.view.symbols)

        def matched(alignment: Alignment) -> None:
            self._alignments[leader.index, pane.index] = (*sources, alignment)
            self._alignments[pane.index, leader.index] = (sources[1], sources[0], alignment.reversed())
            if (leader.source, pane.source) == sources:
                then()

        leader.submit(lambda: match(*sides), matched)

    # differences

    def action_diff(self) -> None:
        """Show the function of the cursor beside those that it is matched with."""
        leader = self.panes[self._pane]
        sides: list[tuple[CodePane, Symbol]] = []
        for pane in self.panes:
            if pane is leader:
                continue
            alignment = self._alignment(leader, pane)
            if alignment is None:
                self._match(leader, pane, self.action_diff)
                return
            found = alignment.around(leader.view.cursor)
            if found is None:
                self.notify(_nowhere(leader.view), markup=False, timeout=3)
                return
            ours, theirs = found
            sides = sides or [(leader, ours)]
            if theirs is not None and ours == sides[0][1]:
                sides.append((pane, theirs))
        if len(sides) < 2:
            nothing = f"The files in view have nothing like {sides[0][1].name}"
            few = next((pane.view.symbols_title for pane in self.panes if not pane.view.all_symbols), "")
            self.notify(
                f"{nothing} among the {few} of a file." if few else f"{nothing}.", markup=False, timeout=3
            )
            return
        self._differ(sorted(sides, key=lambda side: side[0].index))

    def _differ(self, sides: list[tuple[CodePane, Symbol]]) -> None:
        from judge_tui.tui.code.line_diff import line_diff
        from judge_tui.tui.screens.diff import DiffScreen, Excerpt

        excerpts = [
            Excerpt(
                f"{letter_of(pane.index)} {pane.title}",
                symbol.name,
                symbol.line,
                pane.source.lines[symbol.line : symbol.end + 1],
            )
            for pane, symbol in sides
        ]

        def chosen(row: Row | None) -> None:
            for (pane, _), line in zip(sides, row or (), strict=False):
                if line is not None:
                    pane.view.go(line, centre=True)

        def show(diff: LineDiff) -> None:
            self.app.push_screen(DiffScreen(excerpts, diff), chosen)

        sides[0][0].submit(lambda: line_diff([excerpt.lines for excerpt in excerpts]), show)


def _nowhere(view: CodeView) -> str:
    """Why no function or class is round the cursor."""
    if not view.all_symbols and view.cursor > view.symbols[-1].line:
        return f"The cursor stands behind the {view.symbols_title} of the file; no others are known."
    return "Put the cursor into a function or class."
