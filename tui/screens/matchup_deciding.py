"""Deciding a matchup: what the keys of its lines do to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from textual import events

from judge_tui.judging.matchup import TIE, Criterion
from judge_tui.tui.desk.matchup_desk import KEY, MARGIN, WINNER, MatchupDesk
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.matchup_rows import MatchupRows

if TYPE_CHECKING:
    from judge_tui.tui.screens.dialog import Editor

__all__ = ["Deciding", "DecidingRows", "decides"]

P = ParamSpec("P")


class Decider(Protocol):
    """Has a matchup to decide."""

    @property
    def desk(self) -> MatchupDesk:
        """Where it lies."""


D = TypeVar("D", bound=Decider)


def decides(act: Callable[Concatenate[D, P], None]) -> Callable[Concatenate[D, P], None]:
    """What a key does to the matchup, where its file can be changed; else the judge is told why not."""

    @wraps(act)
    def done(self: D, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if self.desk.closed:
            self.desk.refused(self.desk.closed)
        else:
            act(self, *args, **kwargs)

    return done


class Deciding:
    """Decides a matchup, line by line.

    Args:
        session: The comparison.
        rows: The lines, and which is under the cursor.
        relist: Shows the lines anew, with the cursor on one of them.
        write_in: Opens an editor of the matchup.
    """

    def __init__(
        self,
        session: Session,
        rows: MatchupRows,
        relist: Callable[[Hashable], None],
        write_in: Callable[[Editor, Callable[[None], None]], None],
    ) -> None:
        self._session, self._rows = session, rows
        self._relist, self._write_in = relist, write_in

    @property
    def desk(self) -> MatchupDesk:
        """The matchup that is shown."""
        return self._rows.desk

    @property
    def _line(self) -> Hashable:
        return self._rows.key

    @decides
    def digit(self, digit: str) -> None:
        """A digit of the margin."""
        if self.desk.matchup.winner == TIE:
            self._rows.notify("A tie has no margin.", markup=False, timeout=2)
        elif not self.desk.digit(digit):
            stands = self.desk.matchup.margin
            self._rows.notify(f"A margin is 0 to 100: {stands} stands.", markup=False, timeout=2)
        self._shown()

    @decides
    def ahead(self, seat: int) -> None:
        """Say that a submission is ahead in the line under the cursor."""
        if seat in self._rows.seats:
            self.edge(self._session.submissions[seat].model)
        else:
            here = " and ".join(map(letter_of, self._rows.seats))
            self._rows.notify(f"Here {here} are compared.", markup=False, timeout=2)

    @decides
    def edge(self, who: str | None) -> None:
        """Say who is ahead in the line under the cursor."""
        line = self._line
        if line in (MARGIN, KEY):
            self._rows.notify("Who is ahead is said on the other lines.", markup=False, timeout=2)
            return
        at = self._rows.cursor
        self.desk.edge(line, who)
        self._relist(self._next(line, at))

    def _next(self, line: Hashable, at: int) -> Hashable:
        """After a proposal is settled the cursor stays among the proposals."""
        if isinstance(line, tuple) and line[0] == "proposal":
            left = [key for key in self._rows.lines() if isinstance(key, tuple) and key[0] == "proposal"]
            before = sum(isinstance(key, tuple) and key[0] == "proposal" for key in self._rows.keys[:at])
            return left[min(before, len(left) - 1)] if left else None
        return line

    @decides
    def clear(self) -> None:
        """Leave the line open."""
        if self._line in (WINNER, MARGIN):
            self.desk.remove(self._line)
            self._shown()
        elif self._line != KEY:
            self.edge(None)

    @decides
    def accept(self) -> None:
        """Take what is proposed for the line."""
        line, at = self._line, self._rows.cursor
        if not self.desk.accept(line):
            self._rows.notify("Nothing is proposed for this line.", markup=False, timeout=2)
            return
        if line in (WINNER, MARGIN, KEY):
            # the winner and its margin are accepted together: on to the line behind them
            told = "key differentiator accepted" if line == KEY else "winner and margin accepted"
            self._rows.notify(told, markup=False, timeout=2)
            keys = list(self._rows.keys)
            self._relist(keys[min(keys.index(MARGIN if line == WINNER else line) + 1, len(keys) - 1)])
            return
        self._relist(self._next(line, at))

    @decides
    def accept_all(self) -> None:
        """Take every line that is proposed."""
        count = self.desk.accept_all()
        back = key_for(self._rows.screen, "undo")
        told = f"{count} accepted, {back} takes it back" if count else "Nothing is proposed."
        self._rows.notify(told, markup=False)
        self._shown()

    @decides
    def reconsider(self) -> None:
        """Propose again what was declined."""
        count = self.desk.reconsider()
        self._rows.notify(
            f"{count} proposed again" if count else "Nothing was declined.", markup=False, timeout=2
        )
        self._shown()

    @decides
    def drop(self) -> None:
        """Take the line away, or turn the proposal down."""
        line, at = self._line, self._rows.cursor
        if self.desk.remove(line):
            self._relist(self._next(line, at))

    @decides
    def carry(self, step: int) -> None:
        """Move the criterion."""
        self._relist(self.desk.move(self._line, step))

    @decides
    def add(self) -> None:
        """Write a line of one's own."""
        self._edit(("new", 0), Criterion(""), new=True)

    @decides
    def edit(self) -> None:
        """Write the text of the line under the cursor."""
        line = self._line
        criterion = self.desk.criterion(line)
        if criterion is not None:
            self._edit(line, criterion, new=False)
        elif line == KEY:
            self._edit_key()
        elif line in (WINNER, MARGIN):
            self._tell_how(line)

    def _tell_how(self, line: Hashable) -> None:
        """Say which keys decide a line that is not written."""
        matchup, tie = self.desk.matchup, key_for(self._rows, "tie")
        told, stands, proposed = (
            ("digits type the margin in points, 0 to 100", matchup.margin, self.desk.proposed_margin)
            if line == MARGIN
            else (
                f"{' '.join(self._rows.leaders)} or {tie} say who wins",
                matchup.winner,
                self.desk.proposal.winner,
            )
        )
        if proposed not in (None, stands):
            told += f"; {key_for(self._rows, 'accept')} takes what is proposed"
        self._rows.notify(told, markup=False, timeout=3)

    def _edit_key(self) -> None:
        from judge_tui.tui.screens.text_editor import TextEditor

        # what is proposed is there to be changed, and is taken by nobody who only looks
        text = self.desk.matchup.key_differentiator or self.desk.proposed_key
        self._write_in(TextEditor("Key differentiator", text, self.desk.write_key), self._edited)

    def _edit(self, line: Hashable, criterion: Criterion, *, new: bool) -> None:
        from judge_tui.tui.screens.criterion_editor import CriterionEditor

        session, desk = self._session, self.desk
        place = [line]

        def changed(now: Criterion) -> None:
            place[0] = desk.write(place[0], now)

        columns = [
            (session.submissions[seat].model, f"{letter_of(seat)} {session.titles[seat]}")
            for seat in self._rows.seats
        ]
        title = "New line" if new else session.hide(criterion.name) or "Line"
        self._write_in(
            CriterionEditor(title, criterion, columns, changed, new=new), lambda _: self._edited(place[0])
        )

    def _edited(self, line: Hashable = None) -> None:
        self.desk.changes.seal()
        self._relist(line)

    def _shown(self) -> None:
        self._relist(self._line)


class DecidingRows(MatchupRows):
    """Lines that their keys decide.

    Args:
        session: The comparison.
        desk: Its matchup.
        relist: Shows the lines anew, with the cursor on one of them.
        write_in: Opens an editor of the matchup.
    """

    def __init__(
        self,
        session: Session,
        desk: MatchupDesk,
        relist: Callable[[Hashable], None],
        write_in: Callable[[Editor, Callable[[None], None]], None],
    ) -> None:
        super().__init__(session, desk)
        self.deciding = Deciding(session, self, relist, write_in)

    async def on_key(self, event: events.Key) -> None:
        # elsewhere a digit begins a count
        if event.character and event.character in "0123456789" and self.key == MARGIN and not self.counting:
            event.stop()
            event.prevent_default()
            self.deciding.digit(event.character)

    def action_ahead(self, seat: int) -> None:
        self.deciding.ahead(seat)

    def action_tie(self) -> None:
        self.deciding.edge(TIE)

    def action_clear(self) -> None:
        self.deciding.clear()

    def action_accept(self) -> None:
        self.deciding.accept()

    def action_accept_all(self) -> None:
        self.deciding.accept_all()

    def action_reconsider(self) -> None:
        self.deciding.reconsider()

    def action_edit(self) -> None:
        self.deciding.edit()

    def action_open(self) -> None:
        self.deciding.edit()

    def action_remove(self) -> None:
        self.deciding.drop()

    def action_add(self) -> None:
        self.deciding.add()

    def action_carry(self, step: int) -> None:
        self.deciding.carry(step)
