"""The lines of a matchup: what is decided, then what is proposed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding

from judge_tui.judging.matchup import TIE, Criterion
from judge_tui.tui.desk.matchup_desk import KEY, MARGIN, WINNER, MatchupDesk
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["MatchupRows", "points", "seats_of", "who"]

_TITLES = {WINNER: "Winner", MARGIN: "Margin", KEY: "Key differentiator"}
_EDGE = 8
#: Below so many columns the reasons stand in the detail alone.
_WIDE = 120


def seats_of(session: Session, desk: MatchupDesk) -> list[int]:
    """Which of a comparison's submissions a matchup is of: their indices."""
    return [seat for seat, submission in enumerate(session.submissions) if submission.model in desk.models]


def who(session: Session, edge: str | None, *, short: bool = False) -> str:
    """An edge or a winner in words; names come from the session, which may hide them."""
    models = [submission.model for submission in session.submissions]
    if edge in models:
        index = models.index(edge)
        return letter_of(index) if short else f"{letter_of(index)} {session.titles[index]}"
    return "–" if edge is None else edge


def points(margin: int) -> str:
    """A margin in words."""
    return f"{margin} point{'s' * (margin != 1)}"


class MatchupRows(Rows):
    """The list; keys decide."""

    BINDINGS: ClassVar = [
        *(Binding(key, f"ahead({n})", f"{key} is ahead", show=False) for n, key in enumerate("ABC")),
        Binding("t", "tie", "tie"),
        Binding("space,y", "accept", "accept"),
        Binding("enter,e", "edit", "edit"),
        Binding("d,delete", "remove", "remove, decline"),
        Binding("a", "add", "add a line"),
        Binding("backspace", "clear", "leave it open", show=False),
        Binding("Y", "accept_all", "accept all that is proposed", show=False),
        Binding("R", "reconsider", "propose again what was declined", show=False),
        Binding("J", "carry(1)", "line further down", show=False),
        Binding("K", "carry(-1)", "line further up", show=False),
    ]

    BINDINGS = named("matchup", BINDINGS)

    def __init__(self, session: Session, desk: MatchupDesk) -> None:
        super().__init__()
        self.session = session
        self.show_matchup(desk)

    def show_matchup(self, desk: MatchupDesk) -> None:
        """Show the lines of another matchup."""
        self.desk = desk
        self.seats = seats_of(self.session, desk)

    @property
    def leaders(self) -> list[str]:
        """The keys that say who is ahead."""
        return [key_for(self, f"ahead({seat})") for seat in self.seats]

    def go(self, row: int) -> None:
        # the headings are no lines to stand on
        row = min(max(row, 0), max(len(self.keys) - 1, 0))
        step = 1 if row >= self.cursor else -1
        while 0 <= row < len(self.keys) and self._heading(row):
            row += step
        if row != self.cursor:
            self.desk.leave_line()
        super().go(row)

    def _heading(self, row: int) -> bool:
        key = self.keys[row]
        return isinstance(key, tuple) and key[0] == "head"

    def lines(self) -> list[Hashable]:
        """The lines with their headings."""
        found = self.desk.lines()
        criteria = [line for line in found if isinstance(line, tuple) and line[0] == "criterion"]
        proposals = [line for line in found if isinstance(line, tuple) and line[0] == "proposal"]
        keys: list[Hashable] = [*found[:3], ("head", "criteria"), *criteria]
        return [*keys, ("head", "proposed"), *proposals] if proposals else keys

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        if isinstance(key, str):
            return self._first(key, width, tones)
        assert isinstance(key, tuple)
        if key[0] == "head":
            return self._head(key[1], width, tones)
        criterion = self.desk.criterion(key)
        return () if criterion is None else self._criterion(criterion, width, tones, key[0] == "proposal")

    # columns

    def _columns(self, width: int) -> tuple[int, int, int]:
        """Columns of the name, of each submission's cell, and of the reason."""
        known = (self.desk.criterion(key) for key in self.keys)
        longest = max((cell_len(line.name) for line in known if line is not None), default=0)
        name = min(max(longest + 2, 14), width * 3 // 10, 44)
        why = min(width // 4, 44) if width >= _WIDE else 0
        return name, max((width - _EDGE - name - why) // len(self.seats), 4), why

    def _head(self, which: str, width: int, tones: Tones) -> Sequence[Span]:
        name, cell, why = self._columns(width)
        if which == "proposed":
            keys = key_for(self, "accept"), key_for(self, "remove")
            told = f"{keys[0]} accepts, {keys[1]} declines"
            return [(f"   Proposed from scores and measurements: {told}", tones.faint)]
        spans: list[Span] = [(fit("   edge", _EDGE), tones.faint), (fit("criterion", name), tones.faint)]
        for seat in self.seats:
            spans.append((fit(f"{letter_of(seat)} {self.session.titles[seat]}", cell), tones.faint))
        return [*spans, ("why", tones.faint)] if why else spans

    def _criterion(self, line: Criterion, width: int, tones: Tones, proposed: bool) -> Sequence[Span]:
        name, cell, why = self._columns(width)
        hide = self.session.hide
        edge = who(self.session, line.edge, short=True)
        stale = not proposed and line.basis and self.desk.measured_anew(line)
        sign = "?" if proposed else "≠" if stale else " "
        ink = tones.muted if proposed else tones.text
        known = tones.muted if line.edge in (None, TIE) else tones.by_name["success"]
        spans: list[Span] = [
            (f" {sign} ", tones.by_name["accent"]),
            (fit(edge, _EDGE - 3), tones.muted if proposed else known),
            (fit(hide(line.name) or "(no name)", name - 1) + " ", ink),
        ]
        for seat in self.seats:
            model = self.session.submissions[seat].model
            ahead = line.edge == model and not proposed
            text = line.cells.get(model, "")
            spans.append((fit(hide(text), cell - 1) + " ", tones.strong if ahead else ink))
        return [*spans, (fit(hide(line.note), why), tones.muted)] if why else spans

    def _first(self, key: str, width: int, tones: Tones) -> Sequence[Span]:
        matchup, proposal = self.desk.matchup, self.desk.proposal
        said = {
            WINNER: "" if matchup.winner is None else who(self.session, matchup.winner),
            MARGIN: "" if matchup.margin is None else points(matchup.margin),
            KEY: matchup.key_differentiator,
        }[key]
        margin = self.desk.proposed_margin
        could = {
            WINNER: "" if proposal.winner is None else who(self.session, proposal.winner),
            MARGIN: "" if margin is None else points(margin),
            KEY: self.desk.proposed_key,
        }[key]
        spans: list[Span] = [(f"   {_TITLES[key]:<20}", tones.muted)]
        said, could = self.session.hide(said), self.session.hide(could)
        if said:
            spans.append((said.replace("\n", " "), tones.strong))
            if could and could != said and key != KEY:
                spans.append((f"   the scores say {could}", tones.by_name["warning"]))
            if key == WINNER and self.desk.stale:
                spans.append(("   ~ files changed since this was decided", tones.by_name["warning"]))
            return spans
        if could:
            return [*spans, ("? ", tones.by_name["accent"]), (could, tones.muted)]
        return [*spans, ("–", tones.faint)]
