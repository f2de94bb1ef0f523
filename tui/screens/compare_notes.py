"""Notes and findings beside the code of a comparison."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from judge_tui.checks.verdict import Verdict
from judge_tui.judging.note import Note, new_note
from judge_tui.judging.placing import Placed
from judge_tui.tui.keys.bound_keys import key_called
from judge_tui.tui.look.fitting import fit_middle
from judge_tui.tui.look.palette import KIND_MARKS, VERDICTS
from judge_tui.tui.screens.compare_placing import ComparePlacing
from judge_tui.tui.screens.comparing.bookmarking import Bookmarking
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.screens.comparing.search import Search
from judge_tui.tui.screens.comparing.sync import Sync
from judge_tui.tui.screens.standing_signs import STANDINGS, told_of
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.code_lines import Mark
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView

if TYPE_CHECKING:
    from judge_tui.tui.screens.dialog import Editor

__all__ = ["CompareNotes"]

#: Columns of the edges of an editor's title, and of a place in it at least.
_EDGES, _SHORTEST = 6, 16
#: Seconds until a copy does without lines, and between two looks.
_PATIENCE_S, _LOOK_S = 3.0, 0.02


class CompareNotes(ComparePlacing):
    """The part of the comparison that writes notes and marks lines."""

    session: Session
    panes: Panes
    sync: Sync
    searching: Search
    places: Places
    bookmarks: Bookmarking

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def changed(self) -> None: ...
        def write_in(self, editor: Editor, index: int, closed: Callable[[None], None]) -> None: ...
        def show_evidence(self, key: tuple[str, str]) -> None: ...

    # marks

    def remark(self) -> None:
        """Mark the lines that notes and findings point at."""
        for pane in self.panes:
            self.find_notes(pane)
            self.mark(pane)

    def mark(self, pane: CodePane) -> None:
        """Mark the lines of one pane."""
        marks: dict[int, Mark] = {}
        size = len(pane.source)
        for line, key in reversed(self._findings(pane)):
            if line < size:
                marks[line] = Mark("◆", VERDICTS[str(self.session.outcomes[key].verdict)][1])
        noted = _noted(self._notes(pane), size)
        # a finding of the same line stands behind the note's mark
        both = {line: replace(noted[line], beside=marks[line]) for line in marks.keys() & noted.keys()}
        pane.view.mark(marks | noted | both)
        self.bookmarks.show(pane)

    def _notes(self, pane: CodePane) -> tuple[Placed, ...]:
        placed = (self.session.placed(pane.index, note) for note in self.session.notes(pane.index))
        return tuple(one for one in placed if pane.file and one.note.file == pane.file)

    def _findings(self, pane: CodePane) -> list[tuple[int, tuple[str, str]]]:
        """Lines of the file in view that findings point at, 0-based, with the keys of their outcomes."""
        return [(line, key) for file, line, key in self.all_findings(pane) if file == pane.file]

    def all_findings(self, pane: CodePane) -> list[tuple[str, int, tuple[str, str]]]:
        """Files and 0-based lines that findings point at, with the keys of their outcomes."""
        model = pane.submission.model
        return [
            (item.file, item.line - 1, key)
            for key, outcome in self.session.outcomes.items()
            if key[0] == model and outcome.verdict not in (Verdict.PASS, Verdict.SKIP)
            for item in outcome.evidence
            if item.file and item.line and item.ok is not True
        ]

    def on_code_pane_loaded(self, event: CodePane.Loaded) -> None:
        self.remark()
        self.searching.again()
        self.sync.lead(self.panes.current)

    def on_code_view_mark_opened(self, event: CodeView.MarkOpened) -> None:
        from judge_tui.tui.screens.picker import Choice, Picker

        pane = next(pane for pane in self.panes if pane.view is event.view)
        here: dict[Choice, Callable[[], None]] = {}
        for placed in self._notes(pane):
            note = placed.note
            if note.lines and note.lines[0] - 1 <= event.last and event.line < note.lines[1]:
                text = pane.hide(note.text.replace("\n", " ")) or "no text yet"
                kind = f"{note.kind} note" + (f", {placed.told}" if placed.told else "")
                # where it is comes first: what it says may be about other lines
                opens = self.ask_place if placed.standing == "doubt" else self._edit
                written = next(one for one in self.session.notes(pane.index) if one.id == note.id)
                here[Choice(text, kind, note.id)] = partial(opens, pane.index, written)
        for line, key in self._findings(pane):
            if event.line <= line <= event.last:
                outcome = self.session.outcomes[key]
                finding = Choice(outcome.check, pane.hide(outcome.summary), key)
                here[finding] = partial(self.show_evidence, key)

        def chosen(value: object) -> None:
            next((opened for choice, opened in here.items() if choice.value == value), lambda: None)()

        if len(here) == 1:
            chosen(next(iter(here)).value)
        elif here:
            first, last = event.line + 1, event.last + 1
            title = f"Lines {first}–{last}" if last > first else f"Line {first}"
            self.app.push_screen(Picker(title, list(here), does="opens it"), chosen)

    # notes

    def action_note_step(self, step: int) -> None:
        pane = self.panes.current
        placed = [self.session.placed(pane.index, note).note for note in self.session.notes(pane.index)]
        places = [(note.file, note.lines[0] - 1) for note in placed if note.file and note.lines]
        self.places.step(pane, places, step, "note", "No note on lines of this submission.")

    def action_finding_step(self, step: int) -> None:
        pane = self.panes.current
        places = [(file, line) for file, line, _ in self.all_findings(pane)]
        self.places.step(pane, places, step, "finding", "No check points at a line of this submission.")

    def action_note(self) -> None:
        pane = self.panes.current
        view = pane.view
        first, last = view.selection
        # a file that is still being read has no lines to quote yet
        lines = (first + 1, last + 1) if pane.known(pane.file)[0] is not None else None
        # of all kinds the one that says least, for a judge who types on without choosing
        note = new_note("question", "", file=pane.file or None, lines=lines, source=pane.source.bare.lines)
        self._edit(pane.index, note, new=True)

    def _edit(self, index: int, note: Note, *, new: bool = False, listed: bool = False) -> None:
        from judge_tui.tui.screens.dialog import WIDEST
        from judge_tui.tui.screens.note_editor import NoteEditor

        if self.session.refuses(index):
            if note.text:
                # to be read all the same
                told = self.session.hide(note.text)
                self.notify(told, title=f"{note.kind} note", markup=False, timeout=20)
            return

        def changed(now: Note) -> None:
            there = any(old.id == now.id for old in self.session.notes(index))
            if now.text.strip():
                self.session.put_note(index, now)
            elif there:
                self.session.drop_note(index, now.id)

        def noted(_: None) -> None:
            # selected until here: the judge sees what the note is about
            self.panes[index].view.drop_selection()
            self.session.seal()
            self.changed()
            if new and all(kept.id != note.id for kept in self.session.notes(index)):
                self.notify("A note without text is none: nothing is kept.", markup=False, timeout=2)
            if listed:
                self._list_notes((index, note.id))

        placed = self.session.placed(index, note)
        where = self.session.hide(placed.note.where) or "whole submission"
        told = f" · {said}" if (said := told_of(placed)) else ""
        head = f"Note · {letter_of(index)} {self.session.titles[index]} · "
        room = max(min(self.size.width, WIDEST) - _EDGES - len(head) - len(told), _SHORTEST)
        title = f"{head}{fit_middle(where, room)}{told}"
        self.write_in(NoteEditor(title, note, changed), index, noted)

    def action_notes(self) -> None:
        self._list_notes()

    def _list_notes(self, at: tuple[int, str] | None = None) -> None:
        from judge_tui.tui.screens.notes_list import NotesList

        self.app.push_screen(NotesList(self.session, self.changed, at), self._act)

    def _act(self, answer: tuple[str, int, str] | None) -> None:
        self.changed()
        if answer is None:
            return
        what, index, note_id = answer
        note = next((n for n in self.session.notes(index) if n.id == note_id), None)
        if note is None:
            return
        if what == "place":
            # the cursor stays: where it is may be the answer
            self.ask_place(index, note, listed=True)
            return
        placed = self.session.placed(index, note)
        if placed.note.file:
            self.places.jump(index, placed.note.file, placed.note.lines[0] if placed.note.lines else 1)
            if placed.standing != "there" and placed.note.file in self.panes[index].submission.files:
                self.notify(self._warning(placed), severity="warning", markup=False, timeout=4)
        if what == "copy":
            self._copy(index, placed.note)
        elif what == "edit":
            self._edit(index, note, listed=True)

    def _warning(self, placed: Placed) -> str:
        if placed.standing == "doubt":
            count = len(placed.spots)
            several = f"Its lines stand in {count} places now" if count > 1 else "Its lines may be others now"
            key = key_called(self, "notes.say-where-it-is")
            return f"{several}: {key} in the list of notes says which it is about."
        return "The lines of this note have changed: what it quotes is gone from the file."

    # copying

    def _copy(self, index: int, note: Note) -> None:
        """Write a note on another submission too; the judge says on which where there are several."""
        from judge_tui.tui.screens.picker import Choice, Picker

        others = [pane for pane in self.panes if pane.index != index]
        if len(others) == 1:
            self.run_worker(self._copy_to(others[0], index, note), group="copy")
            return
        choices = [Choice(f"{letter_of(pane.index)} {pane.title}", "", pane.index) for pane in others]

        def chosen(to: object) -> None:
            if isinstance(to, int):
                self.run_worker(self._copy_to(self.panes[to], index, note), group="copy")
            else:
                self._list_notes((index, note.id))

        self.app.push_screen(Picker("Copy the note to", choices, does="copies it"), chosen)

    async def _copy_to(self, pane: CodePane, index: int, note: Note) -> None:
        """Copy a note to the lines that answer its own, or to the whole submission where none do.

        The list comes back on the note itself: the next may be copied too, and the copy edited there.
        """
        if self.session.refuses(pane.index):
            self._list_notes((index, note.id))
            return
        lines = None
        if note.file and note.lines:
            lines = await self._answering(pane, self.panes[index], note.file, note.lines)
        copied = new_note(
            note.kind,
            note.text,
            severity=note.severity,
            file=pane.file if lines else None,
            lines=lines,
            source=pane.source.bare.lines,
        )
        self.session.put_note(pane.index, copied, typing=False)
        self.session.seal()
        self.changed()
        where = self.session.hide(copied.where) or "the whole submission: no lines answer its own"
        self.notify(f"copied to {letter_of(pane.index)}, {where}", markup=False, timeout=4)
        if self.app.screen is self:
            self._list_notes((index, note.id))

    async def _answering(
        self, pane: CodePane, leader: CodePane, file: str, lines: tuple[int, int]
    ) -> tuple[int, int] | None:
        """The lines in view that answer lines of the leader's file, once both are read and matched."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                while not (leader.settled and pane.settled):
                    await asyncio.sleep(_LOOK_S)
                if self.sync.alignment(leader, pane) is None:
                    matched = asyncio.Event()
                    self.sync.match(leader, pane, matched.set)
                    await matched.wait()
        alignment = self.sync.alignment(leader, pane)
        return alignment.lines(*lines) if alignment is not None and leader.file == file else None


@lru_cache(maxsize=8)
def _noted(notes: tuple[Placed, ...], size: int) -> dict[int, Mark]:
    """What notes mark of so many lines, for all to read; where one begins, that is what a line shows.

    One whose lines are others now, or that may be elsewhere, marks only where it begins.
    """
    marks: dict[int, Mark] = {}
    # a scorecard may name any line
    there = [one for one in notes if one.note.lines and one.note.lines[0] <= size]
    begun: dict[int, Mark] = {}
    for one in sorted(there, key=lambda one: one.standing == "there"):
        assert one.note.lines is not None
        glyph, tone = KIND_MARKS[one.note.kind]
        first, last = one.note.lines
        if one.standing == "there":
            marks |= dict.fromkeys(range(first, min(last, size)), Mark("▏", tone, continued=True))
        begun[first - 1] = Mark(STANDINGS.get(one.standing, glyph), tone)
    return marks | begun
