"""Going to places in the code of a comparison, across files, and the way back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.code.bookmarks import Bookmarks
from judge_tui.tui.code.highlight import Highlight, read
from judge_tui.tui.code.jumps import JumpList, Place
from judge_tui.tui.code.source import Source
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.counted import past_end, times

if TYPE_CHECKING:
    from judge_tui.tui.code.definitions import Definition, Index

__all__ = ["ComparePlaces"]


class ComparePlaces(Screen[None]):
    """The part of the comparison that goes to places and comes back."""

    session: Session
    panes: list[CodePane]
    _pane: int
    _jumps: JumpList
    _bookmarks: dict[int, Bookmarks]
    _indices: dict[int, Index]
    _visiting = False

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def focus_code(self, index: int) -> None: ...
        def all_findings(self, pane: CodePane) -> list[tuple[str, int, tuple[str, str]]]: ...

    def prepare_places(self) -> None:
        """Begin to remember (once the panes are there)."""
        self._jumps, self._bookmarks, self._indices = JumpList(), {}, {}
        for pane in self.panes:
            pane.leaving = self._left

    @property
    def here(self) -> Place:
        """Where the reader is."""
        pane = self.panes[self._pane]
        return Place(self._pane, pane.file, pane.view.cursor)

    def visit(self, place: Place, *, leave: bool = True) -> None:
        """Go to a place of any pane.

        Args:
            place: Where to.
            leave: Remember where the reader was.
        """
        if leave:
            self._jumps.leave(self.here)
        self._visiting = True
        try:
            self.focus_code(place.pane)
            pane = self.panes[place.pane]
            if place.file in pane.submission.files:
                pane.open(place.file, place.line)
            else:
                self.notify(f"{pane.hide(place.file)} is no longer there.", markup=False, timeout=3)
        finally:
            self._visiting = False

    def _left(self, pane: CodePane, line: int) -> None:
        # a pane that follows another one goes nowhere by itself
        if not self._visiting and pane.index == self._pane and pane.file:
            self._jumps.leave(Place(pane.index, pane.file, line))

    # the way back

    def action_back_to(self) -> None:
        for _ in range(times(self.focused)):
            if not self._return(self._jumps.back(self.here), "back"):
                break

    def action_forward_to(self) -> None:
        for _ in range(times(self.focused)):
            if not self._return(self._jumps.forward(self.here), "forward"):
                break

    def _return(self, place: Place | None, where: str) -> bool:
        if place is None:
            self.notify(f"No jump leads {where} from here.", markup=False, timeout=2)
            return False
        self.visit(place, leave=False)
        return True

    # definitions

    def action_definition(self) -> None:
        pane = self.panes[self._pane]
        known = self._indices.get(pane.index)
        if known is not None:
            self._define(pane, known)
            return

        def indexed(found: Index) -> None:
            self._indices[pane.index] = found
            if pane.index == self._pane:
                self._define(pane, found)

        submission = pane.submission

        def parsed(file: str) -> tuple[Source, Highlight] | None:
            source, highlight = pane.known(file)
            if source is None:
                source = Source(submission.read_bytes(file))
            return source, highlight or read(file, source.bare)

        def indexing() -> Index:
            from judge_tui.tui.code.definitions import index

            return index(submission.files, parsed)

        pane.submit(indexing, indexed)

    def forget_definitions(self, pane: CodePane) -> None:
        """The files of a pane have changed."""
        self._indices.pop(pane.index, None)

    def _define(self, pane: CodePane, known: Index) -> None:
        from judge_tui.tui.code.definitions import names_in
        from judge_tui.tui.screens.picker import Choice, Picker

        line = pane.view.cursor
        used = names_in(pane.source, pane.view.highlight, line)
        found = known.of(used, pane.file, line)
        if not found:
            self.notify("Nothing that this line uses is defined in the submission.", markup=False, timeout=3)
        elif len(found) == 1:
            self._show(pane, found[0])
        else:
            choices = [
                Choice(pane.hide(d.name), f"{d.kind} · {pane.hide(d.file)}:{d.line + 1}", d) for d in found
            ]

            def chosen(value: object) -> None:
                if value in found:
                    self._show(pane, found[found.index(value)])

            self.app.push_screen(
                Picker(f"Defined in {letter_of(pane.index)} {pane.title}", choices, found[0]), chosen
            )

    def _show(self, pane: CodePane, definition: Definition) -> None:
        pane.open(definition.file, definition.line)

    # notes and findings, in any file

    def action_note_step(self, step: int) -> None:
        pane = self.panes[self._pane]
        placed = [self.session.placed(pane.index, note).note for note in self.session.notes(pane.index)]
        places = [(note.file, note.lines[0] - 1) for note in placed if note.file and note.lines]
        self._step(pane, places, step, "note", "No note on lines of this submission.")

    def action_finding_step(self, step: int) -> None:
        pane = self.panes[self._pane]
        places = [(file, line) for file, line, _ in self.all_findings(pane)]
        self._step(pane, places, step, "finding", "No check points at a line of this submission.")

    def _step(
        self, pane: CodePane, places: Sequence[tuple[str, int]], step: int, what: str, none: str
    ) -> None:
        """Go to the next of some places after the cursor, in the order of the files, round the end."""
        files = pane.submission.files
        stops = sorted({(files.index(file), line) for file, line in places if file in files})
        if not stops:
            self.notify(none, markup=False, timeout=2)
            return
        here = (files.index(pane.file) if pane.file in files else -1, pane.view.cursor)
        at = bisect_right(stops, here) if step > 0 else bisect_left(stops, here) - 1
        at += step * (times(self.focused) - 1)
        file, line = stops[at % len(stops)]
        if at != at % len(stops):
            alone = len(stops) == 1 and here == stops[0]
            told = f"this is the only {what}" if alone else past_end(what, step)
            self.notify(told, markup=False, timeout=2)
        pane.open(files[file], line)

    # bookmarks

    def bookmarks_of(self, pane: CodePane) -> Bookmarks:
        """The bookmarks of a pane's submission."""
        found = self._bookmarks.get(pane.index)
        if found is None:
            found = self._bookmarks[pane.index] = Bookmarks(pane.submission.path)
        return found

    def show_bookmarks(self, pane: CodePane) -> None:
        """Show them beside the file in view, moved to where their lines stand."""
        marks = self.bookmarks_of(pane)
        if pane.file and marks.within(pane.file):
            marks.settle(pane.file, pane.source.bare.lines)
        pane.view.flag(marks.within(pane.file))

    def action_bookmark(self) -> None:
        pane = self.panes[self._pane]
        if not pane.file:
            return
        line = pane.view.cursor
        marks = self.bookmarks_of(pane)
        marks.renew()
        marks.settle(pane.file, pane.source.bare.lines)
        added = marks.toggle(pane.file, line, pane.source.bare.lines[line])
        marks.save()
        self.show_bookmarks(pane)
        self.notify(f"bookmark {'set' if added else 'taken away'}", markup=False, timeout=2)

    def action_bookmark_step(self, step: int) -> None:
        pane = self.panes[self._pane]
        places = [(mark.file, mark.line) for mark in self.bookmarks_of(pane)]
        self._step(pane, places, step, "bookmark", "No bookmarks in this submission.")

    def action_bookmarks(self) -> None:
        from judge_tui.tui.screens.picker import Choice, Picker

        choices = [
            Choice(
                pane.hide(mark.text) or "(blank line)",
                f"{letter_of(pane.index)} · {pane.hide(mark.file)}:{mark.line + 1}",
                Place(pane.index, mark.file, mark.line),
            )
            for pane in self.panes
            for mark in self.bookmarks_of(pane)
            if mark.file in pane.submission.files
        ]
        if not choices:
            self.notify("No bookmarks yet.", markup=False, timeout=2)
            return

        def chosen(value: object) -> None:
            if isinstance(value, Place):
                self.visit(value)

        self.app.push_screen(Picker("Bookmarks", choices, self.here), chosen)

    # lines by number

    def action_line(self) -> None:
        from judge_tui.tui.screens.line_prompt import LinePrompt

        pane = self.panes[self._pane]
        last = len(pane.source)

        def chosen(line: int | None) -> None:
            if line is not None:
                pane.view.go(line - 1, centre=True)

        self.app.push_screen(LinePrompt(pane.hide(pane.file), pane.view.cursor + 1, last), chosen)
