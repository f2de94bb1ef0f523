"""Saving in a comparison: what the header says of it, conflicts, and leaving with unsaved work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.message import Message
from textual.screen import Screen

from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.engine.check_runner import CheckRunner
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.dialog import Editor
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Part

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Side
    from judge_tui.judging.versions import Differing

__all__ = ["CompareSaving", "ComparisonLeft", "SaveReported"]


#: Called when a question is answered or put off.
Then = Callable[[], None]
#: Seconds after which it is told again that another window changes what is changed here.
_TOLD_S = 30.0


class SaveReported(Message):
    """A save was attempted (posted from the saving thread)."""

    def __init__(self, report: SaveReport) -> None:
        super().__init__()
        self.report = report


class ComparisonLeft(Message):
    """The judge is done with the comparison."""


class CompareSaving(Screen[None]):
    """The part of the comparison that tells what is saved and what is not."""

    session: Session
    runner: CheckRunner
    _clock: Callable[[float], str]
    _saved: str
    _conflicts: set[int]
    _failed: dict[int, str]
    #: When a conflict was settled without a question the last time.
    _joined_at = -_TOLD_S
    _hidden = False
    #: What an editor is open of.
    _written_in: int | None = None
    _stale: bool
    #: That all went well waits until a dialog is not written in; that something did not never waits.
    _saved_untold = False

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        @property
        def _writing(self) -> bool: ...
        def retell(self) -> None: ...
        def changed(self) -> None: ...
        def show_names(self) -> None: ...
        def joined(self) -> None: ...
        async def places_found(self) -> None: ...

    def tell_saved(self, report: SaveReport) -> None:
        """A save was attempted; may be told in any thread."""
        self.post_message(SaveReported(report))

    def on_save_reported(self, message: SaveReported) -> None:
        report = message.report
        self._conflicts.discard(report.index)
        known = self._failed.pop(report.index, "")
        if report.state == "saved":
            self._saved = f"saved {self._clock(report.at)}"
        elif report.state == "conflict":
            self._join(report.index)
        else:
            self._failed[report.index] = report.message
            if report.message != known:
                self.notify(self.session.hide(report.message), severity="error", markup=False, timeout=8)
        self._saved_untold = self._writing and not (known or self._unsaved())
        if not self._saved_untold:
            self.retell()
        for screen in self.app.screen_stack:
            if isinstance(screen, Editor):
                screen.tell_saving()

    def _join(self, index: int) -> None:
        """Keep what was changed here and elsewhere; where that is the same, the judge has to be asked."""
        session, hidden = self.session, self.session.blindfold.active
        # a line that is written in a matchup has a number, which another one may have after that
        waits = index >= len(session.submissions) and self._written_in == index
        before = len(session.changes)
        if waits or not session.merge(index):
            # a dialog that opens by itself would swallow what is being typed: the judge opens it
            self._conflicts.add(index)
            return
        self._stale = True
        self.joined()
        if hidden and not session.blindfold.active:
            # the other window has revealed them
            self.show_names()
        if index < len(session.submissions) and len(session.changes) == before:
            # where notes are now was found out in both, or the other one goes on with what was told
            return
        if time.monotonic() - self._joined_at >= _TOLD_S:
            # another window that types saves many times a minute
            what = letter_of(index) if index < len(session.submissions) else "The matchup"
            told = "changed by another window as well: what either has changed is kept."
            self.notify(
                f"{what}: {told}" if len(what) == 1 else f"{what} was {told}", markup=False, timeout=6
            )
        self._joined_at = time.monotonic()

    def write_in(self, editor: Editor, index: int, closed: Callable[[None], None]) -> None:
        """Open an editor of a document, which says whether that is saved.

        Args:
            editor: The editor.
            index: Which document, as :class:`SaveReported` tells it.
            closed: Called once it is closed.
        """
        editor.unsaved = partial(self._not_saved, index)
        self._written_in = index

        def left(_: None) -> None:
            self._written_in = None
            closed(None)
            if index in self._conflicts and index >= len(self.session.submissions):
                self._conflicts.discard(index)
                self._join(index)
                self.retell()

        self.app.push_screen(editor, left)

    def _not_saved(self, index: int) -> str:
        if index in self._conflicts:
            return "not saved: changed by another window"
        return "not saved yet" if index in self._failed else ""

    def _unsaved(self) -> str:
        if self._conflicts:
            return f"NOT SAVED, changed by another window: press {key_for(self, 'settle')} to settle"
        return f"NOT SAVED: {key_for(self, 'save')} tries again" if self._failed else ""

    def saved_parts(self) -> list[Part]:
        """What the header says of saving; that something is saved stays in view, whatever the width."""
        if unsaved := self._unsaved():
            head, _, key = unsaved.rpartition(":")
            what, _, why = head.partition(",")
            # why is told where there is room beside the names
            return [(what, "error", 0), (f",{why}" if why else "", "error", 1), (f":{key} ", "error", 0)]
        if not self._saved:
            return [("as on disk ", "muted", 2)]
        word, _, moment = self._saved.partition(" ")
        # on a narrow screen the names of what is judged are worth more than the time of day
        return [(f"{word} ", "muted", 0), (f"{moment} ", "muted", 4)]

    def action_settle(self) -> None:
        self.settle(lambda: None)

    def settle(self, then: Then) -> None:
        """Ask about the first conflict: a card's, or a matchup's.

        Args:
            then: Called when it is answered or put off.
        """
        from judge_tui.tui.widgets.matchup_rows import who

        index = min(self._conflicts, default=None)
        if index is None:
            self.notify("Nothing to settle.", markup=False, timeout=2)
            return
        clashes = self.session.clashes(index, partial(who, self.session))
        if clashes or self.session.merge(index):
            self._ask(index, clashes, {}, then)
            return

        def answered(answer: str) -> None:
            wins = self.session.overwrite if answer.startswith("mine") else self.session.reload
            self._settled(wins(index), then)

        self._ask_about(index, self._differences(index), answered, then)

    def _ask(
        self, index: int, clashes: Sequence[tuple[Key, Differing]], chosen: dict[Key, Side], then: Then
    ) -> None:
        """Ask about the first of what both have changed that is not decided, and go on with the next."""
        left = [(key, differing) for key, differing in clashes if key not in chosen]
        if not left:
            again = f"Changed once more meanwhile: {key_for(self, 'settle')} settles that."
            self._settled(again if chosen and not self.session.merge(index, chosen) else "", then)
            return

        def answered(answer: str) -> None:
            side: Side = "ours" if answer.startswith("mine") else "theirs"
            decided = left if answer.endswith("all") else left[:1]
            self._ask(index, clashes, {**chosen, **{key: side for key, _ in decided}}, then)

        self._ask_about(index, [left[0][1]], answered, then, left=len(left))

    def _ask_about(
        self,
        index: int,
        differing: Sequence[Differing],
        answered: Callable[[str], None],
        then: Then,
        *,
        left: int = 1,
    ) -> None:
        from judge_tui.tui.screens.question import ConflictQuestion

        hide = self.session.hide
        covered = [
            replace(one, what=hide(one.what), here=hide(one.here), there=hide(one.there)) for one in differing
        ]
        question = ConflictQuestion(self._called(index), key_for(self, "undo"), covered, left=left)
        self._hidden = self.session.blindfold.active
        self.app.push_screen(question, lambda answer: answered(answer) if answer else then())

    def _settled(self, told: str, then: Then) -> None:
        """Show what was decided; what was told of the conflict holds no more."""
        self.app.clear_notifications()
        if told:
            self.notify(self.session.hide(told), severity="error", markup=False, timeout=20)
        self.changed()
        if self._hidden and not self.session.blindfold.active:
            # the other window has revealed them
            self.show_names()
        then()

    def _called(self, index: int) -> str:
        """What is meant by an index."""
        session, count = self.session, len(self.session.submissions)
        if index < count:
            return f"The scorecard of {session.judge} on {letter_of(index)} {session.titles[index]}"
        letters = ", ".join(map(letter_of, list(session.matchups)[index - count]))
        return f"The matchup of {session.judge} on {letters}"

    def _differences(self, index: int) -> list[Differing]:
        """What the two versions of what is meant by an index say differently."""
        from judge_tui.tui.widgets.matchup_rows import who

        session, count = self.session, len(self.session.submissions)
        if index < count:
            return session.differences(index)
        return list(session.matchups.values())[index - count].differences(partial(who, session))

    def action_save(self) -> None:
        unsaved = self.session.unsaved()
        for index in unsaved:
            # told again when it fails again: that is the answer to this key
            self._failed[index] = ""
            self.session.save(index)
        if not unsaved:
            self.notify("Every change is saved as it is made.", markup=False, timeout=2)

    @property
    def own_words(self) -> Mapping[str, str]:
        """Where Home has opened the comparison, leaving it leads there."""
        return {} if getattr(self.app, "home", None) is None else {"quit": "back to Home"}

    async def action_quit(self) -> None:
        await self.leave_by(self._leave)

    async def leave_by(self, leave: Callable[[], object]) -> None:
        """Leave in some way once everything is kept, or the judge says that it may be lost."""
        await self.places_found()
        if self.session.unsaved():
            await asyncio.to_thread(self.session.flush)
        if self.session.lost():
            reason = next(map(self.session.hide, self._failed.values()), "The scorecard cannot be written.")
            self._ask_to_leave(f"{reason} Nor could it be kept elsewhere: leaving now loses it.", leave)
        elif self._conflicts.intersection(self.session.unsaved()):
            # what is on disk is settled, though the report of that may still be on its way
            self._ask_to_leave(
                "Another window or program has changed what is judged here as well: what you see is kept "
                f"beside it, and asked about at the next start. {key_for(self, 'settle')} settles it now.",
                leave,
            )
        else:
            leave()

    def _leave(self) -> None:
        self.runner.kill()
        self.post_message(ComparisonLeft())

    def _ask_to_leave(self, why: str, leave: Callable[[], object]) -> None:
        from judge_tui.tui.screens.question import LeaveQuestion

        def answered(answer: str | None) -> None:
            if answer == "leave":
                leave()

        self.app.push_screen(LeaveQuestion(why), answered)
