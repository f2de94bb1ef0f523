"""The rubric of a comparison under the judge's hands: its texts, whole verdicts, undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.screen import Screen

from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.comparing.notes import Writing
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.undoing import redo, undo
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.rubric_pane import focus_title

__all__ = ["Scoring"]


class Scoring:
    """Writes on the cards what the keys of the rubric ask for.

    Args:
        screen: Where editors and questions open.
        session: Whose cards they are.
        panes: The code.
        write_in: Opens an editor.
        changed: Shows what the session holds now.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        panes: Panes,
        write_in: Writing,
        changed: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._panes = screen, session, panes
        self._write_in, self._changed = write_in, changed

    def edit(self) -> None:
        """Write the text of the line in focus."""
        from judge_tui.tui.screens.text_editor import TextEditor

        session = self._session
        index, row = session.scored, session.focus
        if session.refuses(index):
            return

        def changed(text: str) -> None:
            # what lies behind a dialog is drawn anew as a whole: that waits until it closes
            session.set_text(text, index=index, row=row)

        def closed(_: None) -> None:
            session.seal()
            self._changed()

        title = f"{focus_title(session)} · {letter_of(index)} {session.titles[index]}"
        self._write_in(TextEditor(title, session.text(), changed), index, closed)

    def offer_earlier(self) -> None:
        """Offer comments that were written before."""
        from judge_tui.tui.screens.earlier_comment import offer_earlier

        offer_earlier(self._screen, self._session, self._panes[self._session.scored], self._changed)

    def ask_verdict(self) -> None:
        """Ask for the whole verdict."""
        from judge_tui.tui.screens.whole_verdict import ask_verdict

        ask_verdict(self._screen, self._session, self._changed)

    def undo(self) -> None:
        """Take back the last change."""
        undo(self._screen, self._session, partial(self._told, "undone"))

    def redo(self) -> None:
        """Bring back the last change that was taken back."""
        self._told("redone", redo(self._session))

    def _told(self, what: str, label: str | None) -> None:
        if label is None and self._session.refuses(self._session.scored):
            return
        back = f" · {key_for(self._screen, 'redo')} redoes" if what == "undone" else ""
        said = f"{what}: {self._session.hide(label)}{back}" if label else f"nothing to be {what}"
        self._screen.notify(said, markup=False, timeout=2)
        self._changed()
