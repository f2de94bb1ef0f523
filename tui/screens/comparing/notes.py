"""Notes on the code of a comparison: written, listed, copied, opened from the lines that they are about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from textual.screen import Screen

from judge_tui.judging.note import Note, new_note
from judge_tui.judging.placing import Placed
from judge_tui.tui.keys.bound_keys import key_called
from judge_tui.tui.look.fitting import fit_middle
from judge_tui.tui.screens.comparing.marks import Marks
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.screens.comparing.placing import Placing
from judge_tui.tui.screens.comparing.sync import Sync
from judge_tui.tui.screens.standing_signs import told_of
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView

if TYPE_CHECKING:
    from judge_tui.tui.screens.dialog import Editor

__all__ = ["Notes"]

#: Columns of the edges of an editor's title, and of a place in it at least.
_EDGES, _SHORTEST = 6, 16
#: Seconds until a copy does without lines, and between two looks.
_PATIENCE_S, _LOOK_S = 3.0, 0.02


class Writing(Protocol):
    """Opens an editor of a document, which says whether that is saved."""

    def __call__(self, editor: Editor, index: int, closed: Callable[[None], None]) -> None: ...


class Notes:
    """Writes notes.

    Args:
        screen: Where editors and lists open.
        session: Whose notes they are.
        panes: The code.
        marks: Knows which notes and findings are about lines in view.
        placing: Asks where a note is.
        places: Goes to the lines of a note.
        sync: Knows which lines answer others.
        write_in: Opens an editor.
        show_evidence: Opens the evidence of a check.
        changed: Shows what the session holds now.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        panes: Panes,
        *,
        marks: Marks,
        placing: Placing,
        places: Places,
        sync: Sync,
        write_in: Writing,
        show_evidence: Callable[[tuple[str, str]], None],
        changed: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._panes = screen, session, panes
        self._marks, self._placing, self._places, self._sync = marks, placing, places, sync
        self._write_in, self._show_evidence, self._changed = write_in, show_evidence, changed

    def open_mark(self, event: CodeView.MarkOpened) -> None:
        """Open the note or finding that a line is marked for, or offer them where there are several."""
        from judge_tui.tui.screens.picker import Choice, Picker

        pane = self._panes.showing(event.view)
        here: dict[Choice, Callable[[], None]] = {}
        for placed in self._marks.notes(pane):
            note = placed.note
            if note.lines and note.lines[0] - 1 <= event.last and event.line < note.lines[1]:
                text = pane.hide(note.text.replace("\n", " ")) or "no text yet"
                kind = f"{note.kind} note" + (f", {placed.told}" if placed.told else "")
                # where it is comes first: what it says may be about other lines
                opens = self._placing.ask if placed.standing == "doubt" else self._edit
                written = next(one for one in self._session.notes(pane.index) if one.id == note.id)
                here[Choice(text, kind, note.id)] = partial(opens, pane.index, written)
        for line, key in self._marks.findings(pane):
            if event.line <= line <= event.last:
                outcome = self._session.outcomes[key]
                finding = Choice(outcome.check, pane.hide(outcome.summary), key)
                here[finding] = partial(self._show_evidence, key)

        def chosen(value: object) -> None:
            next((opened for choice, opened in here.items() if choice.value == value), lambda: None)()

        if len(here) == 1:
            chosen(next(iter(here)).value)
        elif here:
            first, last = event.line + 1, event.last + 1
            title = f"Lines {first}–{last}" if last > first else f"Line {first}"
            self._screen.app.push_screen(Picker(title, list(here), does="opens it"), chosen)

    # writing

    def write(self) -> None:
        """Write a note on the lines that are selected."""
        pane = self._panes.current
        view = pane.view
        first, last = view.selection
        # a file that is still being read has no lines to quote yet
        lines = (first + 1, last + 1) if pane.known(pane.file)[0] is not None else None
        # of all kinds the one that says least, for a judge who types on without choosing
        note = new_note("question", "", file=pane.file or None, lines=lines, source=pane.source.bare.lines)
        if lines is not None:
            self._session.placements[pane.index].begin(note, pane.source.bare.text)
        self._edit(pane.index, note, new=True)

    def _edit(self, index: int, note: Note, *, new: bool = False, listed: bool = False) -> None:
        from judge_tui.tui.screens.dialog import WIDEST
        from judge_tui.tui.screens.note_editor import NoteEditor

        if self._session.refuses(index):
            if note.text:
                # to be read all the same
                told = self._session.hide(note.text)
                self._screen.notify(told, title=f"{note.kind} note", markup=False, timeout=20)
            return

        def changed(now: Note) -> None:
            there = any(old.id == now.id for old in self._session.notes(index))
            if now.text.strip():
                self._session.put_note(index, now)
            elif there:
                self._session.drop_note(index, now.id)

        def noted(_: None) -> None:
            # selected until here: the judge sees what the note is about
            self._panes[index].view.drop_selection()
            self._session.seal()
            self._changed()
            if new and all(kept.id != note.id for kept in self._session.notes(index)):
                self._screen.notify("A note without text is none: nothing is kept.", markup=False, timeout=2)
            if listed:
                self.list_all((index, note.id))

        placed = self._session.placed(index, note)
        where = self._session.hide(placed.note.where) or "whole submission"
        told = f" · {said}" if (said := told_of(placed)) else ""
        head = f"Note · {letter_of(index)} {self._session.titles[index]} · "
        room = max(min(self._screen.size.width, WIDEST) - _EDGES - len(head) - len(told), _SHORTEST)
        title = f"{head}{fit_middle(where, room)}{told}"
        self._write_in(NoteEditor(title, note, changed), index, noted)

    def list_all(self, at: tuple[int, str] | None = None) -> None:
        """List the notes of all submissions, with the cursor on one of them."""
        from judge_tui.tui.screens.notes_list import NotesList

        self._screen.app.push_screen(NotesList(self._session, self._changed, at), self._act)

    def _act(self, answer: tuple[str, int, str] | None) -> None:
        self._changed()
        if answer is None:
            return
        what, index, note_id = answer
        note = next((n for n in self._session.notes(index) if n.id == note_id), None)
        if note is None:
            return
        if what == "place":
            # the cursor stays: where it is may be the answer
            self._placing.ask(index, note, listed=True)
            return
        placed = self._session.placed(index, note)
        if placed.note.file:
            self._places.jump(index, placed.note.file, placed.note.lines[0] if placed.note.lines else 1)
            if placed.standing != "there" and placed.note.file in self._panes[index].submission.files:
                self._screen.notify(self._warning(placed), severity="warning", markup=False, timeout=4)
        if what == "copy":
            self._copy(index, placed.note)
        elif what == "edit":
            self._edit(index, note, listed=True)

    def _warning(self, placed: Placed) -> str:
        if placed.standing == "doubt":
            count = len(placed.spots)
            several = f"Its lines stand in {count} places now" if count > 1 else "Its lines may be others now"
            key = key_called(self._screen, "notes.say-where-it-is")
            return f"{several}: {key} in the list of notes says which it is about."
        return "The lines of this note have changed: what it quotes is gone from the file."

    # copying

    def _copy(self, index: int, note: Note) -> None:
        """Write a note on another submission too; the judge says on which where there are several."""
        from judge_tui.tui.screens.picker import Choice, Picker

        others = [pane for pane in self._panes if pane.index != index]
        if len(others) == 1:
            self._screen.run_worker(self._copy_to(others[0], index, note), group="copy")
            return
        choices = [Choice(f"{letter_of(pane.index)} {pane.title}", "", pane.index) for pane in others]

        def chosen(to: object) -> None:
            if isinstance(to, int):
                self._screen.run_worker(self._copy_to(self._panes[to], index, note), group="copy")
            else:
                self.list_all((index, note.id))

        self._screen.app.push_screen(Picker("Copy the note to", choices, does="copies it"), chosen)

    async def _copy_to(self, pane: CodePane, index: int, note: Note) -> None:
        """Copy a note to the lines that answer its own, or to the whole submission where none do.

        The list comes back on the note itself: the next may be copied too, and the copy edited there.
        """
        if self._session.refuses(pane.index):
            self.list_all((index, note.id))
            return
        lines = None
        if note.file and note.lines:
            lines = await self._answering(pane, self._panes[index], note.file, note.lines)
        copied = new_note(
            note.kind,
            note.text,
            severity=note.severity,
            file=pane.file if lines else None,
            lines=lines,
            source=pane.source.bare.lines,
        )
        if lines is not None:
            self._session.placements[pane.index].begin(copied, pane.source.bare.text)
        self._session.put_note(pane.index, copied, typing=False)
        self._session.seal()
        self._changed()
        where = self._session.hide(copied.where) or "the whole submission: no lines answer its own"
        self._screen.notify(f"copied to {letter_of(pane.index)}, {where}", markup=False, timeout=4)
        if self._screen.app.screen is self._screen:
            self.list_all((index, note.id))

    async def _answering(
        self, pane: CodePane, leader: CodePane, file: str, lines: tuple[int, int]
    ) -> tuple[int, int] | None:
        """The lines in view that answer lines of the leader's file, once both are read and matched."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                while not (leader.settled and pane.settled):
                    await asyncio.sleep(_LOOK_S)
                if self._sync.alignment(leader, pane) is None:
                    matched = asyncio.Event()
                    self._sync.match(leader, pane, matched.set)
                    await matched.wait()
        alignment = self._sync.alignment(leader, pane)
        return alignment.lines(*lines) if alignment is not None and leader.file == file else None
