"""Conflicts over cards and matchups of a comparison: asked about and settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.screen import Screen

from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.comparing.blind import Blind
from judge_tui.tui.screens.comparing.saving import Saving
from judge_tui.tui.session import Session, letter_of

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Side
    from judge_tui.judging.versions import Differing

__all__ = ["Conflicts"]

#: Called when a question is answered or put off.
Then = Callable[[], None]


class Conflicts:
    """Asks the judge about what another window has changed as well.

    Args:
        screen: Where it is asked.
        session: Whose documents they are.
        saving: Knows which are in conflict.
        blind: Shows the names where another window has revealed them.
        changed: Shows what the session holds now.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        saving: Saving,
        blind: Blind,
        changed: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._saving = screen, session, saving
        self._blind, self._changed = blind, changed
        #: Whether the names were hidden when it was asked.
        self._hidden = False

    def settle(self, then: Then) -> None:
        """Ask about the first conflict: a card's, or a matchup's.

        Args:
            then: Called when it is answered or put off.
        """
        from judge_tui.tui.widgets.matchup_rows import who

        index = min(self._saving.conflicts, default=None)
        if index is None:
            self._screen.notify("Nothing to settle.", markup=False, timeout=2)
            return
        clashes = self._session.clashes(index, partial(who, self._session))
        if clashes or self._session.merge(index):
            self._ask(index, clashes, {}, then)
            return

        def answered(answer: str) -> None:
            wins = self._session.overwrite if answer.startswith("mine") else self._session.reload
            self._settled(wins(index), then)

        self._ask_about(index, self._differences(index), answered, then)

    def _ask(
        self, index: int, clashes: Sequence[tuple[Key, Differing]], chosen: dict[Key, Side], then: Then
    ) -> None:
        """Ask about the first of what both have changed that is not decided, and go on with the next."""
        left = [(key, differing) for key, differing in clashes if key not in chosen]
        if not left:
            again = f"Changed once more meanwhile: {key_for(self._screen, 'settle')} settles that."
            self._settled(again if chosen and not self._session.merge(index, chosen) else "", then)
            return

        def answered(answer: str) -> None:
            side: Side = "ours" if answer.startswith("mine") else "theirs"
            decided = left if answer.endswith("all") else left[:1]
            self._ask(index, clashes, {**chosen, **{key: side for key, _ in decided}}, then)

        self._ask_about(index, [left[0][1]], answered, then, left=len(left))

    def _ask_about(
        self,
        index: int,
        differing: Sequence[Differing],
        answered: Callable[[str], None],
        then: Then,
        *,
        left: int = 1,
    ) -> None:
        from judge_tui.tui.screens.question import ConflictQuestion

        hide = self._session.hide
        covered = [
            replace(one, what=hide(one.what), here=hide(one.here), there=hide(one.there)) for one in differing
        ]
        question = ConflictQuestion(self._called(index), key_for(self._screen, "undo"), covered, left=left)
        self._hidden = self._session.blindfold.active
        self._screen.app.push_screen(question, lambda answer: answered(answer) if answer else then())

    def _settled(self, told: str, then: Then) -> None:
        """Show what was decided; what was told of the conflict holds no more."""
        self._screen.app.clear_notifications()
        if told:
            self._screen.notify(self._session.hide(told), severity="error", markup=False, timeout=20)
        self._changed()
        if self._hidden and not self._session.blindfold.active:
            # the other window has revealed them
            self._blind.show_names()
        then()

    def _called(self, index: int) -> str:
        """What is meant by an index."""
        session, count = self._session, len(self._session.submissions)
        if index < count:
            return f"The scorecard of {session.judge} on {letter_of(index)} {session.titles[index]}"
        letters = ", ".join(map(letter_of, list(session.matchups)[index - count]))
        return f"The matchup of {session.judge} on {letters}"

    def _differences(self, index: int) -> list[Differing]:
        """What the two versions of what is meant by an index say differently."""
        from judge_tui.tui.widgets.matchup_rows import who

        session, count = self._session, len(self._session.submissions)
        if index < count:
            return session.differences(index)
        return list(session.matchups.values())[index - count].differences(partial(who, session))
