"""The matchup of a comparison: opened from it, proposed from its scores and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.verdict import Outcome
from judge_tui.tui.keys.bound_keys import key_called
from judge_tui.tui.screens.comparing.conflicts import Conflicts
from judge_tui.tui.screens.comparing.saving import Saving
from judge_tui.tui.screens.earlier_work import told_of_damage, told_of_earlier_work, told_of_newer_work
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.checks_pane import ChecksPane

if TYPE_CHECKING:
    from judge_tui.judging.proposals import Proposal
    from judge_tui.tui.desk.matchup_desk import MatchupDesk

__all__ = ["Matchups"]


class Matchups:
    """Opens the matchups, and is what they ask.

    Args:
        screen: Where they open.
        session: Whose they are.
        checks: The checks' pane.
        saving: Knows how saving stands, and opens editors.
        conflicts: Asks about what another window has changed.
        retell: Refreshes the header.
        changed: Shows what the session holds now.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        checks: ChecksPane,
        saving: Saving,
        conflicts: Conflicts,
        retell: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._checks = screen, session, checks
        self._retell, self._changed = retell, changed
        self.how_saved, self.save, self.write_in = saving.how_saved, saving.save, saving.write_in
        self.settle = conflicts.settle
        #: Which was open last, and of which it was told what earlier runs have left.
        self._seats: tuple[int, ...] = ()
        self._told_earlier: frozenset[tuple[int, ...]] = frozenset()

    def open(self) -> None:
        """Open the matchup that was open last, or that of all."""
        from judge_tui.tui.screens.matchup import MatchupScreen

        desk = self.opened(self._seats or range(len(self._session.submissions)))
        if desk is not None:
            screen = MatchupScreen(self._session, desk, self)
            self._screen.app.push_screen(screen, lambda _: self._closed())

    def _closed(self) -> None:
        self._retell()
        # undo reaches the cards from there too
        self._changed()

    def opened(self, seats: Sequence[int]) -> MatchupDesk | None:
        """The matchup of some of the submissions, which the next opening shows too."""
        try:
            desk = self._session.open_matchup(seats)
        except JudgeError as error:
            self._screen.notify(str(error), severity="error", markup=False, timeout=10)
            return None
        self._seats = tuple(seats)
        desk.proposal = self.proposal(desk)
        desk.refused = self._tell_matchup_refused
        if self._seats in self._told_earlier:
            return desk
        self._told_earlier |= {self._seats}
        for place in desk.damaged:
            self._screen.notify(told_of_damage(place), severity="warning", markup=False, timeout=20)
        for place in desk.newer:
            self._screen.notify(told_of_newer_work(place), severity="warning", markup=False, timeout=20)
        if desk.closed:
            desk.refused(desk.closed)
        if desk.restored:
            told = told_of_earlier_work(
                desk.earlier_runs,
                "matchup",
                behind=desk.behind,
                undo=key_called(self._screen, "matchup.undo"),
                settle=key_called(self._screen, "matchup.settle-a-conflict-of-two-windows"),
            )
            self._screen.notify(told, markup=False, timeout=10)
        return desk

    def _tell_matchup_refused(self, why: str) -> None:
        self._screen.notify(self._session.hide(why), severity="warning", markup=False, timeout=8)

    def proposal(self, desk: MatchupDesk) -> Proposal:
        """What scores and verdicts say now: checks may still be running."""
        from judge_tui.judging.proposals import proposed

        session = self._session
        models = [one.model for one in session.submissions if one.model in desk.models]
        outcomes: dict[str, dict[str, Outcome]] = {model: {} for model in models}
        titles = {check: state.title for (_, check), state in self._checks.states.items() if state.title}
        for (model, check), outcome in session.outcomes.items():
            # a stored outcome has no title before the engine is there: its line would be kept under its id
            if model in outcomes and (check in titles or self._checks.failure):
                outcomes[model][check] = outcome
        cards = {card.model: card for card in session.cards}
        return proposed(models, session.rubric, cards, outcomes, titles)

    def joined(self) -> None:
        """Show a matchup as a save has made it one with what another window has changed."""
        from judge_tui.tui.screens.matchup import MatchupScreen

        if isinstance(self._screen.app.screen, MatchupScreen):
            self._screen.app.screen.look()
