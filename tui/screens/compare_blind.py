"""Blind judging in a comparison: names covered until the judge has scored everything and asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.blind.veil import VeiledApp
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Part
from judge_tui.tui.widgets.checks_pane import ChecksPane

__all__ = ["CompareBlind"]


class CompareBlind(Screen[None]):
    """The part of the comparison that hides the names, and reveals them."""

    session: Session
    panes: Panes
    checks_pane: ChecksPane
    _offered = False

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def retell(self) -> None: ...
        def changed(self) -> None: ...

    def cover_names(self) -> None:
        """Let no name out from here on, where the comparison is blind."""
        if self.session.blindfold.active and isinstance(self.app, VeiledApp):
            self.app.wear(self.session.blindfold, f"judge-tui {self.session.task}, blind")
            self._offered = self.session.revealable

    def tell_known(self) -> None:
        """Say so where scores from before, given under the names, stand in view: they tell who is who."""
        if known := self.session.blindfold.known:
            who = " ".join(letter_of(index) for index in known)
            self.notify(
                f"{who}: scored before, under the names. What is seen of that may tell who is who, "
                "and the scorecards will say that it was known.",
                severity="warning",
                markup=False,
                timeout=8,
            )

    def on_unmount(self) -> None:
        if isinstance(self.app, VeiledApp):
            self.app.unveil()

    def blind_parts(self) -> list[Part]:
        """What the header says of it."""
        blindfold = self.session.blindfold
        if not blindfold.blind:
            return []
        if not blindfold.active:
            return [("judged blind, names revealed · ", "muted", 3)]
        offer = f", all scored: {key_for(self, 'reveal')} reveals" if self.session.revealable else ""
        return [(f"blind{offer} · ", "accent", 0)]

    def offer_reveal(self) -> None:
        """Say so, once, when everything is scored and the names can be revealed."""
        due = self.session.revealable
        if due != self._offered:
            self._offered = due
            self.retell()
            if due:
                key = key_for(self, "reveal")
                self.notify(f"Everything is scored: {key} reveals the names.", markup=False, timeout=4)

    def action_reveal(self) -> None:
        from judge_tui.tui.screens.question import RevealQuestion

        session = self.session
        if not session.blindfold.active:
            self.notify("No name is hidden here.", markup=False, timeout=2)
            return
        if session.closed:
            told = "The names stay hidden: their reveal has to be written into every scorecard."
            self.notify(told, markup=False, timeout=8)
            for index in session.closed:
                session.refuses(index)
            return
        if session.unscored:
            left = f"{session.unscored} score{'s are' if session.unscored > 1 else ' is'} left"
            self.notify(f"The names come once everything is scored: {left}.", markup=False, timeout=3)
            return
        self.app.push_screen(
            RevealQuestion(
                "This cannot be taken back. The scorecards say when the names were revealed, and which "
                "scores are changed afterwards."
            ),
            lambda answer: self._reveal() if answer == "reveal" else None,
        )

    def _reveal(self) -> None:
        if self.session.reveal():
            self.show_names()

    def show_names(self) -> None:
        """Show the names everywhere, once the session knows that they are revealed."""
        if isinstance(self.app, VeiledApp):
            self.app.unveil()
        titles = self.session.titles
        for pane, title in zip(self.panes, titles, strict=True):
            pane.title = title
            pane.reread()
        self.checks_pane.relist()
        self.changed()
        self.retell()
        self.notify(_told(titles), markup=False, timeout=6)
        # lines that were drawn under the veil are drawn anew
        self.app.refresh(repaint=True, layout=True)
        for widget in self.walk_children():
            widget.refresh()


def _told(titles: Sequence[str]) -> str:
    return ", ".join(f"{letter_of(index)} is {title}" for index, title in enumerate(titles)) + "."
