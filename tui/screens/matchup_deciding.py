"""Deciding a matchup: what the keys of its lines do to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from textual import events
from textual.screen import ModalScreen

from judge_tui.judging.matchup import TIE, Criterion
from judge_tui.tui.desk.matchup_desk import KEY, MARGIN, WINNER, MatchupDesk
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.matchup_rows import MatchupRows

if TYPE_CHECKING:
    from judge_tui.tui.screens.dialog import Editor

__all__ = ["DecidingRows", "MatchupDeciding", "decides"]

P = ParamSpec("P")
Deciding = TypeVar("Deciding", bound="MatchupDeciding")


def decides(
    act: Callable[Concatenate[Deciding, P], None],
) -> Callable[Concatenate[Deciding, P], None]:
    """What a key does to the matchup, where its file can be changed; else the judge is told why not."""

    @wraps(act)
    def done(self: Deciding, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if self._desk.closed:
            self._desk.refused(self._desk.closed)
        else:
            act(self, *args, **kwargs)

    return done


class MatchupDeciding(ModalScreen[None]):
    """The part of the matchup that decides, line by line."""

    _session: Session
    _desk: MatchupDesk
    rows: MatchupRows

    if TYPE_CHECKING:
        # what the screen brings
        def _relist(self, to: Hashable = None) -> None: ...
        def write_in(self, editor: Editor, closed: Callable[[None], None]) -> None: ...

    @property
    def _line(self) -> Hashable:
        return self.rows.key

    @decides
    def digit(self, digit: str) -> None:
        """A digit of the margin."""
        if self._desk.matchup.winner == TIE:
            self.notify("A tie has no margin.", markup=False, timeout=2)
        elif not self._desk.digit(digit):
            stands = self._desk.matchup.margin
            self.notify(f"A margin is 0 to 100: {stands} stands.", markup=False, timeout=2)
        self._shown()

    @decides
    def ahead(self, seat: int) -> None:
        """Say that a submission is ahead in the line under the cursor."""
        if seat in self.rows.seats:
            self.edge(self._session.submissions[seat].model)
        else:
            here = " and ".join(map(letter_of, self.rows.seats))
            self.notify(f"Here {here} are compared.", markup=False, timeout=2)

    @decides
    def edge(self, who: str | None) -> None:
        """Say who is ahead in the line under the cursor."""
        line = self._line
        if line in (MARGIN, KEY):
            self.notify("Who is ahead is said on the other lines.", markup=False, timeout=2)
            return
        at = self.rows.cursor
        self._desk.edge(line, who)
        self._relist(self._next(line, at))

    def _next(self, line: Hashable, at: int) -> Hashable:
        """After a proposal is settled the cursor stays among the proposals."""
        if isinstance(line, tuple) and line[0] == "proposal":
            left = [key for key in self.rows.lines() if isinstance(key, tuple) and key[0] == "proposal"]
            before = sum(isinstance(key, tuple) and key[0] == "proposal" for key in self.rows.keys[:at])
            return left[min(before, len(left) - 1)] if left else None
        return line

    @decides
    def clear(self) -> None:
        """Leave the line open."""
        if self._line in (WINNER, MARGIN):
            self._desk.remove(self._line)
            self._shown()
        elif self._line != KEY:
            self.edge(None)

    @decides
    def accept(self) -> None:
        """Take what is proposed for the line."""
        line, at = self._line, self.rows.cursor
        if not self._desk.accept(line):
            self.notify("Nothing is proposed for this line.", markup=False, timeout=2)
            return
        if line in (WINNER, MARGIN, KEY):
            # the winner and its margin are accepted together: on to the line behind them
            told = "key differentiator accepted" if line == KEY else "winner and margin accepted"
            self.notify(told, markup=False, timeout=2)
            keys = list(self.rows.keys)
            self._relist(keys[min(keys.index(MARGIN if line == WINNER else line) + 1, len(keys) - 1)])
            return
        self._relist(self._next(line, at))

    @decides
    def accept_all(self) -> None:
        """Take every line that is proposed."""
        count = self._desk.accept_all()
        back = key_for(self, "undo")
        told = f"{count} accepted, {back} takes it back" if count else "Nothing is proposed."
        self.notify(told, markup=False)
        self._shown()

    @decides
    def reconsider(self) -> None:
        """Propose again what was declined."""
        count = self._desk.reconsider()
        self.notify(f"{count} proposed again" if count else "Nothing was declined.", markup=False, timeout=2)
        self._shown()

    @decides
    def drop(self) -> None:
        """Take the line away, or turn the proposal down."""
        line, at = self._line, self.rows.cursor
        if self._desk.remove(line):
            self._relist(self._next(line, at))

    @decides
    def carry(self, step: int) -> None:
        """Move the criterion."""
        self._relist(self._desk.move(self._line, step))

    @decides
    def add(self) -> None:
        """Write a line of one's own."""
        self._edit(("new", 0), Criterion(""), new=True)

    @decides
    def edit(self) -> None:
        """Write the text of the line under the cursor."""
        line = self._line
        criterion = self._desk.criterion(line)
        if criterion is not None:
            self._edit(line, criterion, new=False)
        elif line == KEY:
            self._edit_key()
        elif line in (WINNER, MARGIN):
            self._tell_how(line)

    def _tell_how(self, line: Hashable) -> None:
        """Say which keys decide a line that is not written."""
        matchup, tie = self._desk.matchup, key_for(self.rows, "tie")
        told, stands, proposed = (
            ("digits type the margin in points, 0 to 100", matchup.margin, self._desk.proposed_margin)
            if line == MARGIN
            else (
                f"{' '.join(self.rows.leaders)} or {tie} say who wins",
                matchup.winner,
                self._desk.proposal.winner,
            )
        )
        if proposed not in (None, stands):
            told += f"; {key_for(self.rows, 'accept')} takes what is proposed"
        self.notify(told, markup=False, timeout=3)

    def _edit_key(self) -> None:
        from judge_tui.tui.screens.text_editor import TextEditor

        # what is proposed is there to be changed, and is taken by nobody who only looks
        text = self._desk.matchup.key_differentiator or self._desk.proposed_key
        self.write_in(TextEditor("Key differentiator", text, self._desk.write_key), self._edited)

    def _edit(self, line: Hashable, criterion: Criterion, *, new: bool) -> None:
        from judge_tui.tui.screens.criterion_editor import CriterionEditor

        session, desk = self._session, self._desk
        place = [line]

        def changed(now: Criterion) -> None:
            place[0] = desk.write(place[0], now)

        columns = [
            (session.submissions[seat].model, f"{letter_of(seat)} {session.titles[seat]}")
            for seat in self.rows.seats
        ]
        title = "New line" if new else session.hide(criterion.name) or "Line"
        self.write_in(
            CriterionEditor(title, criterion, columns, changed, new=new), lambda _: self._edited(place[0])
        )

    def _edited(self, line: Hashable = None) -> None:
        self._desk.changes.seal()
        self._relist(line)

    def _shown(self) -> None:
        self._relist(self._line)


class DecidingRows(MatchupRows):
    """Hands its keys on to the screen, which holds the desk."""

    async def on_key(self, event: events.Key) -> None:
        # elsewhere a digit begins a count
        if event.character and event.character in "0123456789" and self.key == MARGIN and not self.counting:
            event.stop()
            event.prevent_default()
            self._screen.digit(event.character)

    @property
    def _screen(self) -> MatchupDeciding:
        assert isinstance(self.screen, MatchupDeciding)
        return self.screen

    def action_ahead(self, seat: int) -> None:
        self._screen.ahead(seat)

    def action_tie(self) -> None:
        self._screen.edge(TIE)

    def action_clear(self) -> None:
        self._screen.clear()

    def action_accept(self) -> None:
        self._screen.accept()

    def action_accept_all(self) -> None:
        self._screen.accept_all()

    def action_reconsider(self) -> None:
        self._screen.reconsider()

    def action_edit(self) -> None:
        self._screen.edit()

    def action_open(self) -> None:
        self._screen.edit()

    def action_remove(self) -> None:
        self._screen.drop()

    def action_add(self) -> None:
        self._screen.add()

    def action_carry(self, step: int) -> None:
        self._screen.carry(step)
