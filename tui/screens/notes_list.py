"""All notes on the submissions in view."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding

from judge_tui.judging.note import Note
from judge_tui.tui.keys.bound_keys import key_called, key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit, fit_middle
from judge_tui.tui.look.palette import KIND_MARKS
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.screens.standing_signs import told_of
from judge_tui.tui.screens.undoing import redo, undo
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["NotesList"]


class _Notes(Rows):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def note(self, key: Hashable) -> tuple[int, Note] | None:
        """Submission and note of a row."""
        assert isinstance(key, tuple)
        index, note_id = key
        found = next((note for note in self._session.notes(index) if note.id == note_id), None)
        return (index, found) if found else None

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        found = self.note(key)
        if found is None:
            return ()
        index, note = found
        glyph, tone = KIND_MARKS[note.kind]
        hide = self._session.hide
        placed = self._session.placed(index, note)
        where, room = placed.note.where, min(32, width // 4)
        return [
            (f" {letter_of(index)} ", tones.by_name["primary"]),
            (f"{glyph} {note.kind:<9}", tones.by_name[tone]),
            (f"{note.weight:<9}", tones.muted),
            # the lines tell one note from another
            (fit(fit_middle(hide(where) or "whole submission", room), room), tones.muted),
            (f"  {told_of(placed)}" if placed.told else "", tones.by_name["warning"]),
            ("  " + hide(note.text.replace("\n", " ")), tones.text),
        ]


class NotesList(Sheet["tuple[str, int, str] | None"]):
    """Gives what is to be done: ``(jump|edit|copy|place, submission, note id)``.

    Args:
        session: Whose notes they are.
        changed: Called when one was deleted, or brought back.
        at: Submission and id of the note that the cursor is put on.
    """

    BINDINGS: ClassVar = [
        Binding("escape,q,L", "close", "back"),
        Binding("e", "edit", "edit"),
        Binding("c", "copy", "copy to another submission"),
        Binding("p", "place", "say where it is"),
        Binding("d,delete", "drop", "delete"),
        Binding("u", "undo", "undo"),
        Binding("ctrl+r", "redo", "redo", show=False),
    ]

    BINDINGS = named("notes", BINDINGS)
    title_of_keys = "Notes"
    rows: _Notes

    def __init__(
        self,
        session: Session,
        changed: Callable[[], None],
        at: tuple[int, str] | None = None,
    ) -> None:
        super().__init__()
        self._session, self._changed, self._at = session, changed, at
        self.rows = _Notes(session)

    def on_mount(self) -> None:
        words = {
            "edit": "edit",
            "place": "place",
            "copy": "copy",
            "drop": "delete",
            "undo": "undo",
        }
        told = [(key_for(self, action), word) for action, word in words.items()]
        self.hint([(key_for(self.rows, "open"), "jump"), *told, (key_for(self, "close"), "back")])
        self._relist()
        if self._at in self.rows.keys:
            self.rows.go(self.rows.keys.index(self._at))
        self.rows.focus()

    def _relist(self) -> None:
        keys = [
            (index, note.id)
            for index in range(len(self._session.submissions))
            for note in self._session.notes(index)
        ]
        self.rows.show(keys)
        left = (
            f"{len(keys)} note{'s' if len(keys) > 1 else ''}"
            if keys
            else "No notes yet: select lines in the code and press "
            + key_called(self, "everywhere.note-on-the-lines")
        )
        self.query_one(Bar).tell([(f" Notes  {left}", "strong", 0)])
        self._changed()

    def _answer(self, what: str) -> None:
        if isinstance(self.rows.key, tuple):
            self.dismiss((what, *self.rows.key))

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        self._answer("jump")

    def action_edit(self) -> None:
        self._answer("edit")

    def action_place(self) -> None:
        self._answer("place")

    def action_copy(self) -> None:
        self._answer("copy")

    def action_drop(self) -> None:
        if isinstance(self.rows.key, tuple):
            self._session.drop_note(*self.rows.key)
            self._relist()
            self.notify(f"the note is gone; {key_for(self, 'undo')} brings it back", markup=False, timeout=2)

    def action_undo(self) -> None:
        undo(self, self._session, partial(self._told, "undone"))

    def action_redo(self) -> None:
        self._told("redone", redo(self._session))

    def _told(self, what: str, label: str | None) -> None:
        if label is None and self._session.refuses(self._session.scored):
            return
        # what is taken back may be no note at all
        said = f"{what}: {self._session.hide(label)}" if label else f"nothing to be {what}"
        self.notify(said, markup=False, timeout=2)
        self._relist()
