"""Where notes are in the code after it has changed, and the judge's word where that is in doubt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.screen import Screen

from judge_tui.judging.note import Note
from judge_tui.judging.placing import Placed, Spot, restated
from judge_tui.judging.text_index import indexed
from judge_tui.tui.screens.comparing.marks import Marks
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.code_pane import CodePane

if TYPE_CHECKING:
    from judge_tui.tui.desk.placements import Search

__all__ = ["Placing"]

#: Seconds that leaving waits at most, and between looks.
_PATIENCE_S, _LOOK_S = 1.0, 0.01


class Placing:
    """Knows where notes are, and asks where they may be in several places.

    Args:
        screen: Where it is asked.
        session: Whose notes they are.
        panes: The code.
        marks: Marks the lines of a pane.
        changed: Shows what the session holds now.
        list_notes: Opens the list of notes, on one of a submission.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        panes: Panes,
        marks: Marks,
        changed: Callable[[], None],
        list_notes: Callable[[tuple[int, str]], None],
    ) -> None:
        self._screen, self._session, self._panes, self._marks = screen, session, panes, marks
        self._changed, self._list_notes = changed, list_notes
        #: Submission → the notes and files that were looked at last.
        self._looked: dict[int, object] = {}

    def find(self, pane: CodePane) -> None:
        """Look for the notes of a submission behind the screen, where they or the files are others now."""
        notes = self._session.changes[pane.index].notes
        anchors = tuple((n.id, n.file, n.lines, n.quote, n.context, n.followed) for n in notes)
        state = (anchors, pane.state)
        if not notes or self._looked.get(pane.index) == state:
            return
        self._looked[pane.index] = state
        source, _ = pane.known(pane.file)
        shown = {} if source is None else {pane.file: source.bare.text}
        placements = self._session.placements[pane.index]
        pane.submit(lambda: placements.find(notes, shown), partial(self._take, pane))

    async def found(self) -> None:
        """Wait until it is known where notes are in what has changed: nobody could find that out later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                while any(not pane.settled for pane in self._panes if self._session.notes(pane.index)):
                    await asyncio.sleep(_LOOK_S)

    def _take(self, pane: CodePane, search: Search) -> None:
        from judge_tui.tui.screens.notes_list import NotesList

        self._session.take_places(pane.index, search)
        self._marks.mark(pane)
        if isinstance(self._screen.app.screen, NotesList):
            self._screen.app.screen.rows.refresh()

    # asking

    def ask(self, index: int, note: Note, *, listed: bool = False) -> None:
        """Ask the judge where a note is.

        Args:
            index: Its submission.
            note: The note, as it is on the card.
            listed: Whether the list of notes was left for it.
        """
        from judge_tui.tui.screens.picker import Choice, Picker

        if self._session.refuses(index):
            return
        pane, placed = self._panes[index], self._session.placed(index, note)
        spots = self._spots(pane, placed)

        def read() -> list[str]:
            return [_said(self._text_now(pane, spot.file), spot) for spot in spots]

        def asked(texts: Sequence[str]) -> None:
            choices = [
                # the line first: on a narrow screen it is all that tells one place from another
                Choice(f"{_lines(spot)}  {pane.hide(text) or '(blank line)'}", pane.hide(spot.file), spot)
                for text, spot in zip(texts, spots, strict=True)
            ]
            kept = "on the file as a whole" if self._is_here(pane, note) else "on the whole submission"
            choices.append(Choice("It is in none of them", f"stays {kept}", "gone"))
            head = pane.hide(note.text.partition("\n")[0][:40])
            title = f"Where is this note of {letter_of(index)}? {head}"
            likely = Spot(placed.note.file or "", placed.note.lines or (1, 1))
            picker = Picker(title, choices, likely, does="puts it there")
            self._screen.app.push_screen(picker, partial(self._place_told, pane, note, listed))

        pane.submit(read, asked)

    def _is_here(self, pane: CodePane, note: Note) -> bool:
        return note.file in pane.submission.files

    def _spots(self, pane: CodePane, placed: Placed) -> list[Spot]:
        """The places that are asked about: those that fit, and the lines that the judge has chosen."""
        spots = list(placed.spots)
        if not spots and placed.standing == "there" and placed.note.file and placed.note.lines:
            spots = [Spot(placed.note.file, placed.note.lines)]
        first, last = pane.view.selection
        chosen = Spot(pane.file, (first + 1, last + 1))
        if pane.known(pane.file)[0] is not None and chosen not in spots:
            spots.append(chosen)
        return spots

    def _place_told(self, pane: CodePane, note: Note, listed: bool, answer: object) -> None:
        if isinstance(answer, Spot):
            pane.submit(
                lambda: restated(
                    replace(note, file=answer.file, lines=answer.lines),
                    indexed(self._text_now(pane, answer.file)),
                ),
                partial(self._put_note, pane, listed),
            )
            return
        if answer == "gone":
            file = note.file if self._is_here(pane, note) else None
            self._put_note(pane, listed, note.placed_as(Note(note.kind, "", file=file)))
        elif listed:
            self._list_notes((pane.index, note.id))

    def _put_note(self, pane: CodePane, listed: bool, note: Note) -> None:
        # the note may have been changed meanwhile, by another window
        now = next((one for one in self._session.notes(pane.index) if one.id == note.id), None)
        if now is not None:
            self._session.seal()
            self._session.put_note(pane.index, now.placed_as(note), typing=False)
            self._session.seal()
            pane.view.drop_selection()
        self._changed()
        where = self._session.hide(note.where) or "the whole submission"
        self._screen.notify(f"the note is on {where}", markup=False, timeout=2)
        if listed:
            self._list_notes((pane.index, note.id))

    def _text_now(self, pane: CodePane, file: str) -> str:
        source, _ = pane.known(file)
        if source is not None:
            return source.bare.text
        return pane.submission.read_bytes(file).decode("utf-8", "surrogateescape")


def _lines(spot: Spot) -> str:
    first, last = spot.lines
    return f"{first}" if first == last else f"{first}–{last}"


def _said(text: str, spot: Spot) -> str:
    """The first line of a place, with what it stands in."""
    index = indexed(text)
    number = spot.lines[0] - 1
    if number >= len(index):
        return ""
    within = index.within[number]
    return index.lines[number].strip()[:200] + (f"  in {within}" if within else "")
