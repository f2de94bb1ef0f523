"""The matchup of a comparison: who wins, by how much, what decided, criterion by criterion."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import ClassVar, Protocol

from judge_tui.judging.matchup import TIE, Criterion
from judge_tui.judging.proposals import Proposal
from judge_tui.tui.desk.matchup_desk import KEY, MARGIN, WINNER, MatchupDesk
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.key_hints import KeyHints, KeyPart, key_for, listed, own_bindings
from judge_tui.tui.widgets.matchup_rows import DIGITS, MatchupRows, detail_lines
from judge_tui.tui.widgets.rows import Rows, Span
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

__all__ = ["MatchupScreen"]

_LOOK_S = 0.25
#: Seconds between two looks at what checks that still run have found.
_PROPOSE_S = 1.0


class _Rows(MatchupRows):
    """Hands its keys on to the screen, which holds the desk."""

    def action_digit(self) -> None:
        """Digits come through ``on_key``; the binding is there to be listed."""

    def on_key(self, event: events.Key) -> None:
        if event.character and event.character in "0123456789" and not self.counting:
            event.stop()
            event.prevent_default()
            self._screen.digit(event.character)

    @property
    def _screen(self) -> MatchupScreen:
        assert isinstance(self.screen, MatchupScreen)
        return self.screen

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


class _Detail(Rows, can_focus=False):
    shows_cursor = False
    lines: Sequence[tuple[Span, ...]] = ()

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        return self.lines[key] if isinstance(key, int) else ()


class Host(Protocol):
    """The comparison that a matchup is opened from."""

    def opened_matchup(self, seats: Sequence[int]) -> MatchupDesk | None:
        """The matchup of some of its submissions, given by their indices; ``None`` when that fails."""

    def proposal(self, desk: MatchupDesk) -> Proposal:
        """What scores and checks propose now."""

    def how_saved(self) -> tuple[str, str]:
        """How saving stands: a text and its tone."""

    def action_save(self) -> None:
        """Try again to save what is not saved, or say that all is."""

    def settle(self, then: Callable[[], None]) -> None:
        """Ask about what another window has changed."""


class MatchupScreen(ModalScreen[None]):
    """The lines of the matchup, and the one under the cursor in full.

    Args:
        session: The comparison.
        desk: Its matchup.
        host: What opens others, proposes, saves and settles.
    """

    DEFAULT_CSS = """
    MatchupScreen { background: $surface; }
    MatchupScreen Bar { background: $panel; }
    MatchupScreen _Detail { height: 9; background: $surface; border-top: solid $border; }
    """

    BINDINGS: ClassVar = [
        Binding("tab", "others(1)", "pairs"),
        Binding("shift+tab", "others(-1)", "previous pair", show=False),
        Binding("u", "undo", "undo"),
        Binding("ctrl+r", "redo", "redo", show=False),
        Binding("ctrl+s", "save", "save now", show=False),
        Binding("exclamation_mark", "settle", "settle a conflict of two windows", show=False),
        Binding("question_mark,f1", "help", "help"),
        Binding("escape,q,M", "close", "back"),
    ]

    BINDINGS = named("matchup", BINDINGS)

    def __init__(self, session: Session, desk: MatchupDesk, host: Host) -> None:
        super().__init__()
        self._session, self._desk, self._host = session, desk, host
        self.rows = _Rows(session, desk)
        self._detail = _Detail()

    def compose(self) -> ComposeResult:
        yield Bar()
        yield self.rows
        yield self._detail
        yield KeyHints()

    def on_mount(self) -> None:
        self._relist()
        self.rows.focus()
        self._hint()
        # what is saved is told by another thread
        self.set_interval(_LOOK_S, self._retell)
        self.set_interval(_PROPOSE_S, self._propose_anew)

    def _hint(self) -> None:
        asks = key_for(self, "help")
        alone = len(self._session.submissions) < 3
        hints = [
            (keys.split(" ")[0], text)
            for node in (self.rows, self)
            for keys, text, shown in listed(own_bindings(node))
            if shown and keys.split(" ")[0] not in (asks, DIGITS)
            if not (alone and keys.split(" ")[0] == key_for(self, "others(1)"))
        ]
        hints.insert(0, ("/".join(self.rows.digits), "is ahead"))
        self.query_one(KeyHints).tell(tuple(hints), (asks, "help"))

    def on_resize(self) -> None:
        self._detail.styles.height = 9 if self.size.height >= 30 else 6
        self._describe()

    def _propose_anew(self) -> None:
        proposal = self._host.proposal(self._desk)
        if proposal != self._desk.proposal:
            self._desk.proposal = proposal
            self._relist(self.rows.key)

    # showing

    def _relist(self, to: Hashable = None) -> None:
        keys = self.rows.lines()
        self.rows.show(keys)
        if to is not None and to in keys:
            self.rows.go(keys.index(to))
        elif self.rows.cursor < len(keys):
            self.rows.go(self.rows.cursor)
        self._retell()
        self._describe()

    def _retell(self) -> None:
        session, tally, seats = self._session, self._desk.matchup.edges(), self.rows.seats
        names = [
            part
            for seat in seats
            for part in ((f" {letter_of(seat)} ", "primary", 0), (f"{session.titles[seat]} ", "text", 1))
        ]
        edges = " · ".join(
            f"{letter_of(seat)} {tally.get(session.submissions[seat].model, 0)}" for seat in seats
        )
        saved, tone = self._host.how_saved()
        self.query_one(Bar).tell(
            [(" Matchup ", "strong", 0), (f" {session.task} ", "muted", 3), *names],
            [
                (f"edges {edges} · tie {tally[TIE]} · ", "muted", 2),
                (f"judge {session.judge} · ", "muted", 4),
                (f"{saved} ", tone, 0),
            ],
        )

    def _describe(self) -> None:
        width = max(self.size.width - 2, 20)
        keys = key_for(self.rows, "edit"), key_for(self.rows, "accept")
        lines = detail_lines(self._session, self._desk, self.rows.key, width, tones_of(self.app), keys)
        self._detail.lines = lines
        self._detail.show(range(len(lines)))

    def on_rows_pointed(self) -> None:
        self._describe()

    # which submissions

    def action_others(self, step: int) -> None:
        """The matchup of all, then those of two of them, round and round."""
        count = len(self._session.submissions)
        if count < 3:
            self.notify("Two are compared: this is their only matchup.", markup=False, timeout=2)
            return
        every = [tuple(range(count)), *combinations(range(count), 2)]
        at = every.index(tuple(self.rows.seats))
        desk = self._host.opened_matchup(every[(at + step) % len(every)])
        if desk is not None:
            self._desk.seal()
            self._desk = desk
            self.rows.show_matchup(desk)
            self._relist(WINNER)
            self._hint()

    # deciding

    @property
    def _line(self) -> Hashable:
        return self.rows.key

    def digit(self, digit: str) -> None:
        """A digit: of the margin on its line, else the submission that is ahead."""
        if self._line == MARGIN:
            if not self._desk.digit(digit):
                stands = self._desk.matchup.margin
                self.notify(f"A margin is 0 to 100: {stands} stands.", markup=False, timeout=2)
            self._shown()
        elif digit == "0":
            self.edge(TIE)
        elif int(digit) - 1 in self.rows.seats:
            self.edge(self._session.submissions[int(digit) - 1].model)
        else:
            self.notify(f"Here {' and '.join(self.rows.digits)} are compared.", markup=False, timeout=2)

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

    def clear(self) -> None:
        """Leave the line open."""
        if self._line in (WINNER, MARGIN):
            self._desk.remove(self._line)
            self._shown()
        elif self._line != KEY:
            self.edge(None)

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

    def accept_all(self) -> None:
        """Take every line that is proposed."""
        count = self._desk.accept_all()
        back = key_for(self, "undo")
        told = f"{count} accepted, {back} takes it back" if count else "Nothing is proposed."
        self.notify(told, markup=False)
        self._shown()

    def reconsider(self) -> None:
        """Propose again what was declined."""
        count = self._desk.reconsider()
        self.notify(f"{count} proposed again" if count else "Nothing was declined.", markup=False, timeout=2)
        self._shown()

    def drop(self) -> None:
        """Take the line away, or turn the proposal down."""
        line, at = self._line, self.rows.cursor
        if self._desk.remove(line):
            self._relist(self._next(line, at))

    def carry(self, step: int) -> None:
        """Move the criterion."""
        self._relist(self._desk.move(self._line, step))

    def add(self) -> None:
        """Write a line of one's own."""
        self._edit(("new", 0), Criterion(""), new=True)

    def edit(self) -> None:
        """Write the text of the line under the cursor."""
        line = self._line
        criterion = self._desk.criterion(line)
        if criterion is not None:
            self._edit(line, criterion, new=False)
        elif line == KEY:
            self._edit_key()
        elif line in (WINNER, MARGIN):
            tie, takes = key_for(self.rows, "tie"), key_for(self.rows, "accept")
            told = (
                "digits type the margin"
                if line == MARGIN
                else f"{' '.join(self.rows.digits)} or {tie} say who wins"
            )
            self.notify(f"{told}; {takes} takes what is proposed", markup=False, timeout=3)

    def _edit_key(self) -> None:
        from judge_tui.tui.screens.text_editor import TextEditor

        # what is proposed is there to be changed, and is taken by nobody who only looks
        text = self._desk.matchup.key_differentiator or self._desk.proposed_key
        self.app.push_screen(TextEditor("Key differentiator", text, self._desk.write_key), self._edited)

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
        self.app.push_screen(
            CriterionEditor(title, criterion, columns, changed, new=new),
            lambda _: self._edited(place[0]),
        )

    def _edited(self, line: Hashable = None) -> None:
        self._desk.seal()
        self._relist(line)

    def _shown(self) -> None:
        self._relist(self._line)

    # history, saving, leaving

    def action_undo(self) -> None:
        self._told("undone", self._desk.undo())

    def action_redo(self) -> None:
        self._told("redone", self._desk.redo())

    def _told(self, what: str, label: str | None) -> None:
        back = f" · {key_for(self, 'redo')} redoes" if what == "undone" else ""
        said = f"{what}: {self._session.hide(label)}{back}" if label else f"nothing to be {what}"
        self.notify(said, markup=False, timeout=2)
        self._shown()

    def action_save(self) -> None:
        self._host.action_save()

    def action_settle(self) -> None:
        self._host.settle(self._shown)

    def action_help(self) -> None:
        from judge_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.key_parts()))

    def key_parts(self) -> Sequence[KeyPart]:
        """What answers to keys here."""
        return [KeyPart("Matchup", self.rows), KeyPart("Everywhere", self)]

    def action_close(self) -> None:
        self.dismiss(None)
