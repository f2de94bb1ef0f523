"""The matchup of a comparison: opened from it, proposed from its scores and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.verdict import Outcome
from judge_tui.tui.keys.bound_keys import key_called
from judge_tui.tui.screens.earlier_work import told_of_damage, told_of_earlier_work, told_of_newer_work
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.checks_pane import ChecksPane

if TYPE_CHECKING:
    from judge_tui.judging.proposals import Proposal
    from judge_tui.tui.desk.matchup_desk import MatchupDesk
    from judge_tui.tui.screens.dialog import Editor

__all__ = ["CompareMatchup"]


class CompareMatchup(Screen[None]):
    """The part of the comparison that opens the matchup."""

    session: Session
    checks_pane: ChecksPane
    _saved: str
    _seats: tuple[int, ...] = ()
    _told_earlier: frozenset[tuple[int, ...]] = frozenset()

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def retell(self) -> None: ...
        def _unsaved(self) -> str: ...
        def action_save(self) -> None: ...
        def settle(self, then: Callable[[], None]) -> None: ...
        def write_in(self, editor: Editor, index: int, closed: Callable[[None], None]) -> None: ...

    def action_matchup(self) -> None:
        from judge_tui.tui.screens.matchup import MatchupScreen

        desk = self.opened_matchup(self._seats or range(len(self.session.submissions)))
        if desk is not None:
            screen = MatchupScreen(self.session, desk, self)
            self.app.push_screen(screen, lambda _: self.retell())

    def opened_matchup(self, seats: Sequence[int]) -> MatchupDesk | None:
        """The matchup of some of the submissions, which the next opening shows too."""
        try:
            desk = self.session.open_matchup(seats)
        except JudgeError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)
            return None
        self._seats = tuple(seats)
        desk.proposal = self.proposal(desk)
        desk.refused = self._tell_matchup_refused
        if self._seats in self._told_earlier:
            return desk
        self._told_earlier |= {self._seats}
        for place in desk.damaged:
            self.notify(told_of_damage(place), severity="warning", markup=False, timeout=20)
        for place in desk.newer:
            self.notify(told_of_newer_work(place), severity="warning", markup=False, timeout=20)
        if desk.closed:
            desk.refused(desk.closed)
        if desk.restored:
            told = told_of_earlier_work(
                desk.earlier_runs,
                "matchup",
                behind=desk.behind,
                undo=key_called(self, "matchup.undo"),
                settle=key_called(self, "matchup.settle-a-conflict-of-two-windows"),
            )
            self.notify(told, markup=False, timeout=10)
        return desk

    def _tell_matchup_refused(self, why: str) -> None:
        self.notify(self.session.hide(why), severity="warning", markup=False, timeout=8)

    def proposal(self, desk: MatchupDesk) -> Proposal:
        """What scores and verdicts say now: checks may still be running."""
        from judge_tui.judging.proposals import proposed

        session = self.session
        models = [one.model for one in session.submissions if one.model in desk.models]
        outcomes: dict[str, dict[str, Outcome]] = {model: {} for model in models}
        titles = {check: state.title for (_, check), state in self.checks_pane.states.items() if state.title}
        for (model, check), outcome in session.outcomes.items():
            # a stored outcome has no title before the engine is there: its line would be kept under its id
            if model in outcomes and (check in titles or self.checks_pane.failure):
                outcomes[model][check] = outcome
        cards = {card.model: card for card in session.cards}
        return proposed(models, session.rubric, cards, outcomes, titles)

    def joined(self) -> None:
        """Show a matchup as a save has made it one with what another window has changed."""
        from judge_tui.tui.screens.matchup import MatchupScreen

        if isinstance(self.app.screen, MatchupScreen):
            self.app.screen.look()

    def how_saved(self) -> tuple[str, str]:
        """How saving stands: a text and its tone."""
        unsaved = self._unsaved()
        return (unsaved, "error") if unsaved else (self._saved or "as on disk", "muted")
