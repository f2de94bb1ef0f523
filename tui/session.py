"""The state of a comparison, in plain Python: its cards, what is in focus, and what the checks say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from judge_tui.checks.attempts import attempt_title
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import BROKE, Outcome
from judge_tui.judging.card import (
    Scorecard,
    cap_conflicts,
    computed_overall,
    overall_conflict,
    points,
)
from judge_tui.judging.note import Note
from judge_tui.judging.placing import Placed
from judge_tui.judging.rubric import Cap, Dimension
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.desk.card_desk import CardDesk, letter_of
from judge_tui.tui.desk.keypad import Keypad
from judge_tui.tui.desk.machine_words import MachineWords

__all__ = ["OVERALL", "SUMMARY", "Row", "Session", "letter_of"]

#: Rows of the rubric that are no dimensions.
OVERALL, SUMMARY = "overall", "summary"

Row = Dimension | str


class Session(CardDesk):
    """The cards of a comparison under the hands of the judge, who looks at one line of one of them.

    The arguments are those of :class:`~judge_tui.tui.desk.card_desk.CardDesk`.

    Attributes:
        hide: A text as it may be shown: names are hidden while the comparison is blind.
        machines: What language models scored of them.
        scored: Index of the submission that is being scored.
        row: Index into :attr:`rows`: the rubric's line in focus.
        keypad: The digits that were typed of a score.
        typed_over: What they say where a score stands already: that one stays until this one is taken.
    """

    def __init__(
        self,
        workspace: Workspace,
        submissions: Sequence[Submission],
        judge: str,
        report: Callable[[SaveReport], None] = lambda _: None,
        *,
        blind: bool = False,
    ) -> None:
        super().__init__(workspace, submissions, judge, report, blind=blind)
        self.hide = self.blindfold.hide
        self.machines = MachineWords(workspace, self.submissions, judge)
        self.scored = 0
        self.row = 0
        self.keypad = Keypad()
        self.typed_over: int | None = None

    @property
    def titles(self) -> tuple[str, ...]:
        """Display names of the submissions' models, the workspace's own first; hidden while they are."""
        if self.blindfold.active:
            return tuple(self.blindfold.stand_in for _ in self.submissions)
        return tuple(map(self._title, self.submissions))

    def _title(self, submission: Submission) -> str:
        named = self.workspace.settings.titles
        model, attempt = self.workspace.parts(submission.model)
        if submission.model in named or model not in named:
            return named.get(submission.model, submission.title)
        return attempt_title(named[model], attempt)

    # what is in focus

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rubric's lines: dimensions, then overall and summary."""
        return (*self.rubric.dimensions, OVERALL, SUMMARY)

    @property
    def focus(self) -> Row:
        """The line in focus."""
        return self.rows[self.row]

    @property
    def card(self) -> Scorecard:
        """The card that is being scored."""
        return self.changes[self.scored]

    def focus_row(self, row: int) -> None:
        """Put a line of the rubric in focus, within bounds."""
        self.row = min(max(row, 0), len(self.rows) - 1)
        self.keep_score()

    def focus_key(self, key: str) -> bool:
        """Put the dimension of a key in focus; whether there is one."""
        for number, dimension in enumerate(self.rubric.dimensions):
            if dimension.key == key:
                self.focus_row(number)
                return True
        return False

    def switch(self, step: int = 1) -> None:
        """Score the next submission."""
        self.score_now((self.scored + step) % len(self.submissions))

    def score_now(self, index: int) -> bool:
        """Score a submission from now on; whether that was another one until now."""
        before, self.scored = self.scored, index
        self.keep_score()
        return before != index

    def next_unscored(self) -> bool:
        """Go to the next dimension without a score, the other submissions included; whether there is one."""
        count, rows = len(self.submissions), len(self.rubric.dimensions)
        start = self.scored * rows + min(self.row, rows - 1)
        for offset in range(1, count * rows + 1):
            index, row = divmod((start + offset) % (count * rows), rows)
            if index in self.closed:
                continue
            if self.changes[index].score(self.rubric.dimensions[row].id) is None:
                self.scored = index
                self.focus_row(row)
                return True
        return False

    # scoring

    @property
    def score(self) -> int | None:
        """The score of the line in focus."""
        focus = self.focus
        if isinstance(focus, Dimension):
            return self.card.score(focus.id)
        return self.card.overall if focus == OVERALL else None

    def digit(self, digit: str) -> bool:
        """Type a digit of the score of the line in focus; whether it was taken.

        Over a score that stands nothing is written: what is typed waits in :attr:`typed_over`.
        """
        if self.refuses(self.scored) or self.focus == SUMMARY:
            return True
        score = self.keypad.press(digit)
        if score is None:
            return False
        begun = self.keypad.typed == digit
        if self.typed_over is not None or (begun and self.score is not None):
            self.typed_over = score
            if score == self.score and not self.keypad.unfinished:
                self._confirm_score()
        else:
            self._set_score(score, merge=not begun)
        return True

    def _confirm_score(self) -> None:
        """A score that is typed once more is a word on the files as they are now."""
        index, focus, stands = self.scored, self.focus, self.card
        without = (
            stands.with_score(focus.id, None) if isinstance(focus, Dimension) else stands.with_overall(None)
        )
        what = focus.title if isinstance(focus, Dimension) else OVERALL
        self.change(index, f"{what} confirmed", self._attested(index, without, stands))

    @property
    def asks_over(self) -> bool:
        """Whether another score than the one that stands is typed, and waits to be taken."""
        return self.typed_over not in (None, self.score)

    def take_score(self) -> None:
        """Write what is typed over the score that stands (undo brings that back)."""
        score = self.typed_over
        self.keep_score()
        if score is not None:
            self._set_score(score)

    def keep_score(self) -> None:
        """Leave the score that stands as it is, and begin anew with the next digit."""
        self.keypad.reset()
        self.typed_over = None

    def adjust(self, step: int) -> None:
        """Raise or lower the score of the line in focus."""
        self.keep_score()
        present = self.score
        if self.focus == OVERALL and present is None:
            present = computed_overall(self.card, self.rubric)
        if self.focus != SUMMARY:
            self._set_score(min(max((75 if present is None else present) + step, 0), 100), merge=True)

    def clear_score(self) -> None:
        """Take the score of the line in focus away (undo brings it back)."""
        self.keep_score()
        if self.focus != SUMMARY:
            self._set_score(None)

    def _set_score(self, value: int | None, *, merge: bool = False) -> None:
        focus = self.focus
        if isinstance(focus, Dimension):
            after, label = self.card.with_score(focus.id, value), f"{focus.title} score"
            self.change(self.scored, label, after, merge=merge)
        elif focus == OVERALL:
            self.change(self.scored, "overall", self.card.with_overall(value), merge=merge)

    def text(self) -> str:
        """The text that belongs to the line in focus: comment, reason, or summary."""
        focus = self.focus
        if isinstance(focus, Dimension):
            return self.card.comment(focus.id)
        return self.card.overall_reason if focus == OVERALL else self.card.summary

    def set_text(self, text: str, *, index: int, row: Row) -> None:
        """Set the text of a line while it is typed; one editing is one step of undo."""
        card = self.changes[index]
        # blanks alone say nothing
        text = text if text.strip() else ""
        if isinstance(row, Dimension):
            after, label = card.with_comment(row.id, text), f"{row.title} comment"
        elif row == OVERALL:
            after, label = card.with_overall(card.overall, text), "overall reason"
        else:
            after, label = card.with_summary(text), "summary"
        self.change(index, label, after, merge=True, typing=True)

    def undo(self, *, theirs: bool = False) -> str | None:
        """Take back the last change that was made here, of whichever submission; what it was, or ``None``."""
        self.keep_score()
        return super().undo(theirs=theirs)

    def take_in(self, index: int) -> bool:
        """Take a card as another window has saved it; whether it says something else now.

        A score that is typed over one that stands goes on waiting, over whatever stands now.
        """
        before = self.score
        taken = super().take_in(index)
        if self.score != before and self.typed_over is None:
            self.keep_score()
        return taken

    # what is known

    def seen(self, outcome: Outcome) -> None:
        """Take an outcome in."""
        self.outcomes[outcome.model, outcome.check] = outcome

    def forget(self, model: str) -> None:
        """The outcomes of a submission are of files that are no more."""
        for key in [key for key in self.outcomes if key[0] == model]:
            del self.outcomes[key]

    def verdicts(self, index: int) -> Mapping[str, str]:
        """Check id → verdict of a submission; those of the card where no check has run on the same files."""
        model = self.submissions[index].model
        live = {check: str(o.verdict) for (name, check), o in self.outcomes.items() if name == model}
        card = self.changes[index]
        if live or not card.checks or card.submission not in (None, self._digests((index,)).get(model)):
            return live
        return {seen.check: seen.verdict for seen in card.checks}

    def conflicts(self, index: int) -> dict[str, str]:
        """Dimension id (or ``overall``) → a sentence on what does not fit."""
        card = self.changes[index]
        found = cap_conflicts(card, self.rubric, self.rubric.caps_for(self.verdicts(index)))
        own = overall_conflict(card, self.rubric)
        return found | ({OVERALL: own[0].upper() + own[1:]} if own else {})

    def caps(self, index: int, dimension: str) -> tuple[str, ...]:
        """What limits a dimension now, one sentence each."""
        caps = [c for c in self.rubric.caps_for(self.verdicts(index)) if c.dimension == dimension]
        return tuple(f"At most {c.max}: {c.when}. {self._broke(index, c) or c.reason}" for c in caps)

    def _broke(self, index: int, cap: Cap) -> str:
        """What the submission did where a check of a cap could measure nothing; empty otherwise."""
        model = self.submissions[index].model
        checks = (clause.rpartition(" ")[0] for clause in cap.when.split(" and "))
        found = (self.outcomes.get((model, check)) for check in checks)
        summary = next((o.summary for o in found if o and o.summary.startswith(BROKE)), "")
        return self.hide(f"{summary[0].upper()}{summary[1:]}.") if summary else ""

    def mean(self, index: int) -> int | None:
        """The weighted mean of what is scored."""
        return computed_overall(self.changes[index], self.rubric)

    def points(self, index: int) -> int | None:
        """What the card says in points, if it says so yet."""
        return points(self.changes[index], self.rubric)

    def notes(self, index: int) -> tuple[Note, ...]:
        """Notes of a submission, as they are on its card."""
        return self.changes[index].notes

    def placed(self, index: int, note: Note) -> Placed:
        """Where a note of a submission is now, as far as that was looked for."""
        return self.placements[index].placed(note)
