"""Blind judging in a comparison: names covered until the judge has scored everything and asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.screen import Screen

from judge_tui.tui.blind.veil import VeiledApp
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Part
from judge_tui.tui.widgets.checks_pane import ChecksPane

__all__ = ["Blind"]


class Blind:
    """Hides the names, and reveals them.

    Args:
        screen: Where it is told.
        session: What is compared.
        panes: The code.
        checks: The checks' pane.
        changed: Shows what the session holds now.
        retell: Refreshes the header.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        panes: Panes,
        checks: ChecksPane,
        changed: Callable[[], None],
        retell: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._panes, self._checks = screen, session, panes, checks
        self._changed, self._retell = changed, retell
        self._offered = False

    def cover(self) -> None:
        """Let no name out from here on, where the comparison is blind."""
        if self._session.blindfold.active and isinstance(self._screen.app, VeiledApp):
            self._screen.app.wear(self._session.blindfold, f"judge-tui {self._session.task}, blind")
            self._offered = self._session.revealable

    def tell_known(self) -> None:
        """Say so where scores from before, given under the names, stand in view: they tell who is who."""
        if known := self._session.blindfold.known:
            who = " ".join(letter_of(index) for index in known)
            self._screen.notify(
                f"{who}: scored before, under the names. What is seen of that may tell who is who, "
                "and the scorecards will say that it was known.",
                severity="warning",
                markup=False,
                timeout=8,
            )

    def uncover(self) -> None:
        """Let names out again: the comparison ends."""
        if isinstance(self._screen.app, VeiledApp):
            self._screen.app.unveil()

    def parts(self) -> list[Part]:
        """What the header says of it."""
        blindfold = self._session.blindfold
        if not blindfold.blind:
            return []
        if not blindfold.active:
            return [("judged blind, names revealed · ", "muted", 3)]
        offer = f", all scored: {key_for(self._screen, 'reveal')} reveals" if self._session.revealable else ""
        return [(f"blind{offer} · ", "accent", 0)]

    def offer(self) -> None:
        """Say so, once, when everything is scored and the names can be revealed."""
        due = self._session.revealable
        if due != self._offered:
            self._offered = due
            self._retell()
            if due:
                key = key_for(self._screen, "reveal")
                self._screen.notify(
                    f"Everything is scored: {key} reveals the names.", markup=False, timeout=4
                )

    def ask(self) -> None:
        """Ask whether the names are to be revealed, where that is due."""
        from judge_tui.tui.screens.question import RevealQuestion

        session = self._session
        if not session.blindfold.active:
            self._screen.notify("No name is hidden here.", markup=False, timeout=2)
            return
        if session.closed:
            told = "The names stay hidden: their reveal has to be written into every scorecard."
            self._screen.notify(told, markup=False, timeout=8)
            for index in session.closed:
                session.refuses(index)
            return
        if session.unscored:
            left = f"{session.unscored} score{'s are' if session.unscored > 1 else ' is'} left"
            self._screen.notify(f"The names come once everything is scored: {left}.", markup=False, timeout=3)
            return
        self._screen.app.push_screen(
            RevealQuestion(
                "This cannot be taken back. The scorecards say when the names were revealed, and which "
                "scores are changed afterwards."
            ),
            lambda answer: self._reveal() if answer == "reveal" else None,
        )

    def _reveal(self) -> None:
        if self._session.reveal():
            self.show_names()

    def show_names(self) -> None:
        """Show the names everywhere, once the session knows that they are revealed."""
        if isinstance(self._screen.app, VeiledApp):
            self._screen.app.unveil()
        titles = self._session.titles
        for pane, title in zip(self._panes, titles, strict=True):
            pane.title = title
            pane.reread()
        self._checks.relist()
        self._changed()
        self._retell()
        self._screen.notify(_told(titles), markup=False, timeout=6)
        # lines that were drawn under the veil are drawn anew
        self._screen.app.refresh(repaint=True, layout=True)
        for widget in self._screen.walk_children():
            widget.refresh()


def _told(titles: Sequence[str]) -> str:
    return ", ".join(f"{letter_of(index)} is {title}" for index, title in enumerate(titles)) + "."
