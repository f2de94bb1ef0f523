"""The matchup of a comparison: who wins, by how much, what decided, criterion by criterion."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import combinations
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from judge_tui.judging.matchup import TIE, Matchup
from judge_tui.judging.proposals import Proposal
from judge_tui.judging.read_only import holds
from judge_tui.tui.desk.matchup_desk import WINNER, MatchupDesk
from judge_tui.tui.keys.bound_keys import KeyPart, key_for, listed, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.screens.dialog import Editor
from judge_tui.tui.screens.matchup_deciding import DecidingRows
from judge_tui.tui.screens.undoing import redo, undo
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Bar, judge_parts
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.matchup_detail import MatchupDetail

__all__ = ["MatchupScreen"]

_LOOK_S = 0.25
#: Seconds between two looks at what checks that still run have found.
_PROPOSE_S = 1.0
#: Hints that come before those that lead away, however narrow the screen.
_FIRST = 2


class Host(Protocol):
    """What a matchup is opened from."""

    def opened(self, seats: Sequence[int]) -> MatchupDesk | None:
        """The matchup of some of its submissions, given by their indices; ``None`` when that fails."""

    def proposal(self, desk: MatchupDesk) -> Proposal:
        """What scores and checks propose now."""

    def how_saved(self) -> tuple[str, str]:
        """How saving stands: a text and its tone."""

    def save(self) -> None:
        """Try again to save what is not saved, or say that all is."""

    def write_in(self, editor: Editor, index: int, closed: Callable[[None], None]) -> None:
        """Open an editor of one of its documents, which says whether that is saved."""

    def settle(self, then: Callable[[], None]) -> None:
        """Ask about what another window has changed."""


class MatchupScreen(ModalScreen[None]):
    """The lines of the matchup, and the one under the cursor in full.

    Args:
        session: The comparison.
        desk: Its matchup.
        host: What opens others, proposes, saves and settles.

    Attributes:
        desk: The matchup that is shown.
    """

    DEFAULT_CSS = """
    MatchupScreen { background: $surface; }
    MatchupScreen Bar { background: $panel; }
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
        self._session, self.desk, self._host = session, desk, host
        self.rows = DecidingRows(session, desk, self._relist, self._write_in)
        self._detail = MatchupDetail(session)
        self._listed: Matchup | None = None

    def compose(self) -> ComposeResult:
        yield Bar()
        yield self.rows
        yield self._detail
        yield KeyHints()

    def on_mount(self) -> None:
        self._take_in()
        self._relist()
        self.rows.focus()
        self._hint()
        # what is saved is told by another thread
        self.set_interval(_LOOK_S, self.look)
        self.set_interval(_PROPOSE_S, self._propose_anew)

    def _write_in(self, editor: Editor, closed: Callable[[None], None]) -> None:
        among = list(self._session.matchups.values()).index(self.desk)
        self._host.write_in(editor, len(self._session.submissions) + among, closed)

    def _hint(self) -> None:
        asks, back, pairs = (key_for(self, action) for action in ("help", "close", "others(1)"))
        alone = len(self._session.submissions) < 3
        hints = [
            (keys.split(" ")[0], text)
            for node in (self.rows, self)
            for keys, text, shown in listed(own_bindings(node))
            if shown and keys.split(" ")[0] != asks
            if not (alone and keys.split(" ")[0] == pairs)
        ]
        # what leads away comes before what a narrow screen can do without
        away = [hint for hint in hints if hint[0] in (pairs, back)]
        others = [hint for hint in hints if hint not in away]
        first = [] if holds() else [("/".join(self.rows.leaders), "is ahead")]
        hints = [*first, *others[:_FIRST], *away, *others[_FIRST:]]
        self.query_one(KeyHints).tell(tuple(hints), (asks, "help"))

    def on_resize(self) -> None:
        self._detail.styles.height = 9 if self.size.height >= 30 else 6
        self._describe()

    def _propose_anew(self) -> None:
        self._take_in()
        proposal = self._host.proposal(self.desk)
        if proposal != self.desk.proposal:
            self.desk.proposal = proposal
            self._relist(self.rows.key)

    def _take_in(self) -> None:
        """Show what another window has saved; not while an editor or a question is in front."""
        if self.app.screen is self and self.desk.take_in():
            undoes = key_for(self, "undo")
            told = f"Changed by another window, and taken in; {undoes} undoes what you changed here."
            self.notify(told, markup=False, timeout=6)
            self._relist(self.rows.key)

    # showing

    def look(self) -> None:
        """Show how saving stands, and what a save has brought in that another window has changed."""
        if self.app.screen is self and self.desk.matchup is not self._listed:
            self._relist_here()
        else:
            self._retell()

    def _relist(self, to: Hashable = None) -> None:
        self._listed = self.desk.matchup
        keys = self.rows.lines()
        self.rows.show(keys)
        if to is not None and to in keys:
            self.rows.go(keys.index(to))
        elif self.rows.cursor < len(keys):
            self.rows.go(self.rows.cursor)
        self._retell()
        self._describe()

    def _relist_here(self) -> None:
        self._relist(self.rows.key)

    def _retell(self) -> None:
        session, tally, seats = self._session, self.desk.matchup.edges(), self.rows.seats
        names = [
            part
            for seat in seats
            for part in ((f" {letter_of(seat)} ", "primary", 0), (f"{session.titles[seat]} ", "text", 1))
        ]
        edges = " · ".join(
            f"{letter_of(seat)} {tally.get(session.submissions[seat].model, 0)}" for seat in seats
        )
        saved, tone = ("read-only", "warning") if self.desk.closed else self._host.how_saved()
        self.query_one(Bar).tell(
            [(" Matchup ", "strong", 0), (f" {session.task} ", "muted", 3), *names],
            [
                (f"edges {edges} · tie {tally[TIE]} · ", "muted", 2),
                *judge_parts(session.judge),
                (f"{saved} ", tone, 0),
            ],
        )

    def _describe(self) -> None:
        width = max(self.size.width - 2, 20)
        keys = key_for(self.rows, "edit"), key_for(self.rows, "accept")
        self._detail.describe(self.desk, self.rows.key, width, keys)

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
        desk = self._host.opened(every[(at + step) % len(every)])
        if desk is not None:
            self.desk.changes.seal()
            self.desk = desk
            self.rows.show_matchup(desk)
            self._take_in()
            self._relist(WINNER)
            self._hint()

    # history, saving, leaving

    def action_undo(self) -> None:
        undo(self, self._session, partial(self._told, "undone"), self.desk)

    def action_redo(self) -> None:
        self._told("redone", redo(self._session, self.desk))

    def _told(self, what: str, label: str | None) -> None:
        if label is None and self.desk.closed:
            self.desk.refused(self.desk.closed)
            return
        back = f" · {key_for(self, 'redo')} redoes" if what == "undone" else ""
        said = f"{what}: {self._session.hide(label)}{back}" if label else f"nothing to be {what}"
        self.notify(said, markup=False, timeout=2)
        self._propose_anew()
        self._relist_here()

    def action_save(self) -> None:
        self._host.save()

    def action_settle(self) -> None:
        self._host.settle(self._relist_here)

    def action_help(self) -> None:
        from judge_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.key_parts()))

    def key_parts(self) -> Sequence[KeyPart]:
        """What answers to keys here."""
        margin = (("0-9", "the margin in points, typed on its line; elsewhere a count"),)
        return [KeyPart("Matchup", self.rows, signs=margin), KeyPart("Everywhere", self)]

    def action_close(self) -> None:
        self.dismiss(None)
