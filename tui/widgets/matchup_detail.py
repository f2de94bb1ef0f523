"""A line of a matchup in full: what each submission shows, why, and where it was read off."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from rich.style import Style

from judge_tui.judging.matchup import TIE, Criterion, Matchup
from judge_tui.tui.desk.matchup_desk import KEY, WINNER, MatchupDesk
from judge_tui.tui.look.fitting import wrapped
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.matchup_rows import points, seats_of, who
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["MatchupDetail"]

#: What stands before a text, the text, and its style.
_Told = tuple[str, str, Style]


class MatchupDetail(Rows, can_focus=False):
    """The line under the cursor, below the list.

    Args:
        session: The comparison.
    """

    DEFAULT_CSS = "MatchupDetail { height: 9; background: $surface; border-top: solid $border; }"

    shows_cursor = False

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._drawn: list[Sequence[Span]] = []

    def describe(self, desk: MatchupDesk, line: Hashable, width: int, keys: tuple[str, str]) -> None:
        """Show a line.

        Args:
            desk: Its matchup.
            line: Which.
            width: Columns.
            keys: Those that write a line, and take what is proposed.
        """
        tones, (writes, takes) = tones_of(self.app), keys
        told: Iterator[_Told] = iter(())
        self._drawn = []
        criterion = desk.criterion(line)
        if criterion is not None:
            self._drawn.append(self._head(criterion, tones))
            new = (
                desk.measured_anew(criterion) if isinstance(line, tuple) and line[0] == "criterion" else None
            )
            told = self._criterion(desk, criterion, new, takes, tones)
        elif line == KEY:
            told = self._key(desk, writes, tones)
        elif line == WINNER:
            told = self._winner(desk, tones)
        for head, text, style in told:
            for number, part in enumerate(wrapped(self._session.hide(text), max(width - len(head) - 1, 10))):
                before = head if not number else " " * len(head)
                self._drawn.append(((before, tones.by_name["primary"]), (part, style)))
        self.show(range(len(self._drawn)))

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        return self._drawn[key] if isinstance(key, int) else ()

    def _key(self, desk: MatchupDesk, writes: str, tones: Tones) -> Iterator[_Told]:
        text = desk.matchup.key_differentiator or desk.proposed_key
        yield " ", text or f"What decided, in a sentence: {writes} writes it.", tones.text

    def _winner(self, desk: MatchupDesk, tones: Tones) -> Iterator[_Told]:
        session, tally = self._session, desk.matchup.edges()
        models = [session.submissions[seat].model for seat in seats_of(session, desk)]
        edges = "  ".join(f"{who(session, model)} {tally.get(model, 0)}" for model in models)
        yield " ", f"Edges: {edges}  tie {tally[TIE]}", tones.muted
        if desk.stale:
            told = "Files changed since the winner was decided: who wins, said again, is on those of today."
            yield " ~ ", told, tones.by_name["warning"]
        for one in desk.published:
            yield " ", f"Published in {one.source}: {_said(session, one)}", tones.muted

    def _head(self, criterion: Criterion, tones: Tones) -> Sequence[Span]:
        session = self._session
        return (
            (f" {session.hide(criterion.name)}", tones.strong),
            ("  edge ", tones.muted),
            (who(session, criterion.edge), tones.text),
            *([("  nobody is said to be ahead yet", tones.muted)] if criterion.edge is None else []),
        )

    def _criterion(
        self, desk: MatchupDesk, criterion: Criterion, new: Criterion | None, takes: str, tones: Tones
    ) -> Iterator[_Told]:
        for seat in seats_of(self._session, desk):
            model = self._session.submissions[seat].model
            text = criterion.cells.get(model, "")
            yield f" {letter_of(seat)} ", text or "–", tones.text
            if new is not None and new.cells.get(model, "") != text:
                yield "   now: ", f"{new.cells.get(model, '')}  ({takes} takes it)", tones.by_name["warning"]
        if criterion.note:
            yield " why ", criterion.note, tones.muted


def _said(session: Session, matchup: Matchup) -> str:
    """Who wins a matchup, by how much, and why."""
    margin = "" if matchup.margin is None else f" by {points(matchup.margin)}"
    why = f". {matchup.key_differentiator}" if matchup.key_differentiator else ""
    return f"{who(session, matchup.winner)}{margin}{why}"
