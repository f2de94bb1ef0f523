"""A blind comparison: who sits where, what may be shown, and what the scorecards say of it.

Plain Python. The screen asks :meth:`Blindfold.hide` for every text that comes from a submission, from the
engine or from a path; scores, notes and quotes are saved as they are, under the models' own folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from msgspec.structs import replace

from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome
from judge_tui.judging.blind import BlindMark, merged
from judge_tui.judging.card import Scorecard, now
from judge_tui.judging.hiding.block import BLOCK
from judge_tui.judging.hiding.outcomes import covered
from judge_tui.judging.naming import judge_name
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.kept import rescue

if TYPE_CHECKING:
    from judge_tui.judging.hiding.mask import Mask

__all__ = ["Blindfold"]


class Blindfold:
    """What a judge may know of the submissions that are compared.

    A comparison is blind when that is wished for, when the workspace makes it the rule, and when a card of
    this judge is sealed: opening it under the names would tell who is who. It stays blind until each of its
    cards says that the names were revealed.

    Args:
        workspace: Where the names are.
        submissions: Two or three, in any order.
        judge: Who judges.
        wanted: Whether the judge asks for it.

    Attributes:
        seated: The submissions in the order of the screen: as given, or as drawn.
        blind: Whether the comparison is, or was, a blind one.

    Raises:
        JudgeError: The drawn order cannot be kept or was changed, or a scorecard is malformed.
    """

    def __init__(
        self, workspace: Workspace, submissions: Sequence[Submission], judge: str, *, wanted: bool = False
    ) -> None:
        self.seated = tuple(submissions)
        task = self.seated[0].task
        cards = {s.model: workspace.scorecard(task, s.model, judge)[0] for s in self.seated}
        marks = {model: _mark(workspace, card) for model, card in cards.items()}
        sealed = any(mark is not None and mark.revealed is None for mark in marks.values())
        self.blind = wanted or workspace.settings.blind or sealed
        if self.blind:
            models = sorted(cards)
            from judge_tui.judging.sealed_order import sealed_order
            from judge_tui.tui.blind.seen import order_file

            drawn = order_file(workspace, judge, task, models)
            order = sealed_order(drawn, models, (task, judge_name(judge)))
            self.seated = tuple(sorted(self.seated, key=lambda s: order.index(s.model)))
        self._marks = [marks[s.model] for s in self.seated]
        self._known = [bool(cards[s.model].given) for s in self.seated]
        self._mask = _mask(workspace, [s.model for s in self.seated]) if self.active else None

    @property
    def active(self) -> bool:
        """Whether names are hidden now."""
        return self.blind and not all(mark is not None and mark.revealed for mark in self._marks)

    @property
    def known(self) -> tuple[int, ...]:
        """Submissions that were scored under the names, while any are covered."""
        if not self.active:
            return ()
        known = [self._known[n] if mark is None else mark.known for n, mark in enumerate(self._marks)]
        return tuple(index for index, before in enumerate(known) if before)

    @property
    def stand_in(self) -> str:
        """What stands in the place of a name."""
        return BLOCK * 3

    def hide(self, text: str) -> str:
        """A text as it may be shown: with as many characters, names hidden while they are."""
        return self._mask(text) if self._mask is not None and self.active else text

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where hidden names stand in a line: (first, end) of each."""
        return self._mask.spans(line) if self._mask is not None and self.active else []

    def shown(self, outcome: Outcome) -> Outcome:
        """An outcome as it may be shown; the files that it points at stay, to be gone to."""
        if not self.active:
            return outcome
        return covered(outcome, self.stand_in, self.hide)

    # what the scorecards say

    def take(self, index: int, mark: BlindMark | None) -> None:
        """Learn what another copy of a card says, as one that another window has saved."""
        self._marks[index] = merged(self._marks[index], mark)

    def begin(self) -> tuple[int, ...]:
        """Mark every card at the first change of one: one that is not sealed tells of the other by exclusion.

        Returns:
            The submissions whose cards were marked now, and are to be saved.
        """
        new = tuple(index for index, mark in enumerate(self._marks) if self.blind and mark is None)
        for index in new:
            self._marks[index] = BlindMark(began=now(), known=self._known[index])
        return new

    def stamped(self, index: int, card: Scorecard) -> Scorecard:
        """A card as it is saved; undo and redo leave untouched what is said of the blind judging."""
        mark = self._marks[index]
        return card if mark is None else replace(card, blind=mark.held_against(card.given))

    def reveal(self, cards: Sequence[Scorecard], sides: Sequence[str]) -> None:
        """Show the names from now on, and remember what was scored until now."""
        at = now()
        for index, (card, side) in enumerate(zip(cards, sides, strict=True)):
            mark = self._marks[index]
            assert mark is not None
            self._marks[index] = mark.revealing(card.given, side, at)


def _mask(workspace: Workspace, models: Sequence[str]) -> Mask:
    # a comparison under the names pays nothing for it
    from judge_tui.judging.hiding.mask import Mask, telling_names

    longest = max(len(name) for model in models for name in (model, workspace.model_title(model)))
    return Mask(telling_names(workspace), width=longest)


def _mark(workspace: Workspace, card: Scorecard) -> BlindMark | None:
    """What a card says of the blind judging, and what could not be saved of it, by any window."""
    kept = rescue.every_kept(workspace.scorecard_path(card.task, card.model, card.judge))
    return reduce(merged, (one.blind for one in reversed(kept)), card.blind)
