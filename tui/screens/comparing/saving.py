"""Saving in a comparison: what is saved and what is not, and editors that say so."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from textual.message import Message
from textual.screen import Screen

from judge_tui.judging.read_only import holds
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.type_ahead import written_over
from judge_tui.tui.screens.comparing.blind import Blind
from judge_tui.tui.screens.dialog import Editor
from judge_tui.tui.screens.earlier_work import told_of_damage, told_of_earlier_work, told_of_newer_work
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Part

__all__ = ["ComparisonLeft", "SaveReported", "Saving"]

#: Seconds after which it is told again that another window changes what is changed here.
_TOLD_S = 30.0


class SaveReported(Message):
    """A save was attempted (posted from the saving thread)."""

    def __init__(self, report: SaveReport) -> None:
        super().__init__()
        self.report = report


class ComparisonLeft(Message):
    """The judge is done with the comparison, and all is kept or may be lost."""


class Saving:
    """Tells what is saved and what is not. Cards have the indices of their submissions, matchups those after.

    Args:
        screen: Where it is told.
        session: What is saved.
        blind: Shows the names where another window has revealed them.
        clock: Formats a moment.
        retell: Refreshes the header.
        joined: Called when what was changed here was made one with what was changed elsewhere.

    Attributes:
        conflicts: Documents that another window has changed as well, and that the judge has to settle.
        failed: Documents that could not be saved → why.
        saved: When something was saved last, in words; empty before.
        untold: That all went well waits until a dialog is not written in; that something did not never waits.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        blind: Blind,
        clock: Callable[[float], str],
        retell: Callable[[], None],
        joined: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._blind = screen, session, blind
        self._clock, self._retell, self._joined = clock, retell, joined
        self.conflicts: set[int] = set()
        self.failed: dict[int, str] = {}
        self.saved = ""
        self.untold = False
        #: When a conflict was settled without a question the last time.
        self._joined_at = -_TOLD_S
        #: What an editor is open of.
        self._written_in: int | None = None

    def tell_earlier_work(self) -> None:
        """Write what earlier runs could not save, and say what was found of them."""
        session = self._session
        session.save_restored()
        for index in session.restored:
            told = told_of_earlier_work(
                session.earlier_runs[index],
                "scorecard",
                behind=index in session.behind,
                undo=key_for(self._screen, "undo"),
                settle=key_for(self._screen, "settle"),
            )
            self._screen.notify(f"{letter_of(index)}: {told}", markup=False, timeout=10)
        for index, place in session.damaged:
            self._warn(index, told_of_damage(place), 20)
        for index, place in session.newer:
            self._warn(index, told_of_newer_work(place), 20)
        # where nobody writes the header says so from the start
        for index in () if holds() else session.closed:
            session.refuses(index)
        for index in session.waiting:
            self._warn(index, "Unsaved work of an earlier run is kept until then.", 10)
        for index, stray in session.strays():
            self._warn(index, session.hide(stray), 10)

    def tell_refused(self, index: int, why: str) -> None:
        """Say why a card cannot be changed."""
        self._warn(index, self._session.hide(why), 8)

    def _warn(self, index: int, told: str, seconds: float) -> None:
        told = f"{letter_of(index)}: {told}"
        self._screen.notify(told, severity="warning", markup=False, timeout=seconds)

    def take(self, report: SaveReport) -> None:
        """Take in how an attempt to save went."""
        self.conflicts.discard(report.index)
        known = self.failed.pop(report.index, "")
        if report.state == "saved":
            self.saved = f"saved {self._clock(report.at)}"
        elif report.state == "conflict":
            self._join(report.index)
        else:
            self.failed[report.index] = report.message
            if report.message != known:
                told = self._session.hide(report.message)
                self._screen.notify(told, severity="error", markup=False, timeout=8)
        self.untold = written_over(self._screen) and not (known or self.unsaved)
        if not self.untold:
            self._retell()
        for screen in self._screen.app.screen_stack:
            if isinstance(screen, Editor):
                screen.tell_saving()

    def _join(self, index: int) -> None:
        """Keep what was changed here and elsewhere; where that is the same, the judge has to be asked."""
        session, hidden = self._session, self._session.blindfold.active
        # a line that is written in a matchup has a number, which another one may have after that
        waits = index >= len(session.submissions) and self._written_in == index
        before = len(session.changes)
        if waits or not session.merge(index):
            # a dialog that opens by itself would swallow what is being typed: the judge opens it
            self.conflicts.add(index)
            return
        self._joined()
        if hidden and not session.blindfold.active:
            # the other window has revealed them
            self._blind.show_names()
        if index < len(session.submissions) and len(session.changes) == before:
            # where notes are now was found out in both, or the other one goes on with what was told
            return
        if time.monotonic() - self._joined_at >= _TOLD_S:
            # another window that types saves many times a minute
            what = letter_of(index) if index < len(session.submissions) else "The matchup"
            told = "changed by another window as well: what either has changed is kept."
            self._screen.notify(
                f"{what}: {told}" if len(what) == 1 else f"{what} was {told}", markup=False, timeout=6
            )
        self._joined_at = time.monotonic()

    def write_in(self, editor: Editor, index: int, closed: Callable[[None], None]) -> None:
        """Open an editor of a document, which says whether that is saved.

        Args:
            editor: The editor.
            index: Which document, a card's or a matchup's index.
            closed: Called once it is closed.
        """
        editor.unsaved = partial(self._not_saved, index)
        self._written_in = index

        def left(_: None) -> None:
            self._written_in = None
            closed(None)
            if index in self.conflicts and index >= len(self._session.submissions):
                self.conflicts.discard(index)
                self._join(index)
                self._retell()

        self._screen.app.push_screen(editor, left)

    def _not_saved(self, index: int) -> str:
        if index in self.conflicts:
            return "not saved: changed by another window"
        return "not saved yet" if index in self.failed else ""

    @property
    def unsaved(self) -> str:
        """What is said of what is not saved; empty where all is."""
        if self.conflicts:
            return f"NOT SAVED, changed by another window: press {key_for(self._screen, 'settle')} to settle"
        return f"NOT SAVED: {key_for(self._screen, 'save')} tries again" if self.failed else ""

    def how_saved(self) -> tuple[str, str]:
        """How saving stands: a text and its tone."""
        return (self.unsaved, "error") if self.unsaved else (self.saved or "as on disk", "muted")

    def parts(self) -> list[Part]:
        """What the header says of saving; that something is saved stays in view, whatever the width."""
        if unsaved := self.unsaved:
            head, _, key = unsaved.rpartition(":")
            what, _, why = head.partition(",")
            # why is told where there is room beside the names
            return [(what, "error", 0), (f",{why}" if why else "", "error", 1), (f":{key} ", "error", 0)]
        if not self.saved:
            return [("as on disk ", "muted", 2)]
        word, _, moment = self.saved.partition(" ")
        # on a narrow screen the names of what is judged are worth more than the time of day
        return [(f"{word} ", "muted", 0), (f"{moment} ", "muted", 4)]

    def tell_late(self) -> None:
        """Refresh the header where that has waited."""
        if self.untold:
            self._retell()

    def save(self) -> None:
        """Try again to save what is not saved, or say that all is."""
        unsaved = self._session.unsaved()
        for index in unsaved:
            # told again when it fails again: that is the answer to this key
            self.failed[index] = ""
            self._session.save(index)
        if not unsaved:
            self._screen.notify("Every change is saved as it is made.", markup=False, timeout=2)
