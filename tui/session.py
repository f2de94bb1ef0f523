"""The state of a comparison, in plain Python: cards, their history, outcomes, and what is in focus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome
from judge_tui.judging.card import (
    CheckSeen,
    Scorecard,
    cap_conflicts,
    computed_overall,
    now,
    overall_conflict,
    points,
)
from judge_tui.judging.note import Note, reanchor
from judge_tui.judging.rubric import Dimension, Rubric
from judge_tui.judging.scorecard import FileStamp
from judge_tui.judging.workspace import Workspace
from judge_tui.tui import rescue
from judge_tui.tui.autosave import Autosave, SaveReport
from judge_tui.tui.blindfold import Blindfold
from judge_tui.tui.history import History, Step
from judge_tui.tui.keypad import Keypad
from judge_tui.tui.matchup_desk import MatchupDesk

__all__ = ["OVERALL", "SUMMARY", "Row", "Session", "letter_of"]

#: Rows of the rubric that are no dimensions.
OVERALL, SUMMARY = "overall", "summary"

Row = Dimension | str


def letter_of(index: int) -> str:
    """``A``, ``B``, ``C``: how a submission is called where room is scarce."""
    return "ABCDEFGH"[index]


class Session:
    """What is compared, by whom, and what has been said so far.

    Args:
        workspace: Where rubric and scores are.
        submissions: Two or three submissions of one task.
        judge: Who judges.
        report: Told about saves, in the saving thread.
        blind: Judge without knowing which submission is whose.

    Attributes:
        submissions: In the order of the screen, which is drawn where the comparison is blind.
        blindfold: What may be shown of the names.
        scored: Index of the submission that is being scored.
        row: Index into :attr:`rows`: the rubric's line in focus.
        restored: Submissions for which unsaved work of an earlier run was taken up.
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
        self.workspace, self.judge = workspace, judge
        self.blindfold = Blindfold(workspace, submissions, judge, wanted=blind)
        self.submissions = self.blindfold.seated
        self.task = self.submissions[0].task
        self.hide = self.blindfold.hide
        self.rubric: Rubric = workspace.rubric(self.task)
        self.paths = [workspace.scorecard_path(self.task, s.model, judge) for s in self.submissions]
        on_disk = [workspace.scorecard(self.task, s.model, judge) for s in self.submissions]
        self._history = History(self.paths)
        self.logs, self._order, self._undone = self._history.take_up([card for card, _ in on_disk])
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        self.matchup: MatchupDesk | None = None
        self._report = report
        self.scored = 0
        self.row = 0
        self.keypad = Keypad()
        self.restored = tuple(index for index in range(len(self.submissions)) if self._rescued(index))
        self._autosave = Autosave(self.paths, [stamp for _, stamp in on_disk], report, self.restored)

    def _rescued(self, index: int) -> bool:
        """Take up what an earlier run could not save, as a step: what is on disk is one undo away."""
        card, kept = self.logs[index].card, rescue.rescued(self.paths[index])
        if kept is None:
            return False
        self.blindfold.take(index, kept.blind)
        if replace(kept, updated=card.updated, created=card.created) == card:
            rescue.drop(self.paths[index])
            return False
        return self._applied(index, "unsaved work of an earlier run", kept)

    @property
    def titles(self) -> tuple[str, ...]:
        """Display names of the submissions' models, the workspace's own first; hidden while they are."""
        if self.blindfold.active:
            return tuple(self.blindfold.stand_in for _ in self.submissions)
        named = self.workspace.settings.titles
        return tuple(named.get(s.model, s.title) for s in self.submissions)

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
        return self.logs[self.scored].card

    def focus_row(self, row: int) -> None:
        """Put a line of the rubric in focus, within bounds."""
        self.row = min(max(row, 0), len(self.rows) - 1)
        self.keypad.reset()

    def focus_key(self, key: str) -> bool:
        """Put the dimension of a key in focus; whether there is one."""
        for number, dimension in enumerate(self.rubric.dimensions):
            if dimension.key == key:
                self.focus_row(number)
                return True
        return False

    def switch(self, step: int = 1) -> None:
        """Score the next submission."""
        self.scored = (self.scored + step) % len(self.submissions)
        self.keypad.reset()

    def next_unscored(self) -> bool:
        """Go to the next dimension without a score, the other submissions included; whether there is one."""
        count, rows = len(self.submissions), len(self.rubric.dimensions)
        start = self.scored * rows + min(self.row, rows - 1)
        for offset in range(1, count * rows + 1):
            index, row = divmod((start + offset) % (count * rows), rows)
            if self.logs[index].card.score(self.rubric.dimensions[row].id) is None:
                self.scored = index
                self.focus_row(row)
                return True
        return False

    # changing

    def digit(self, digit: str) -> None:
        """Type a digit of the score of the line in focus."""
        if self.focus != SUMMARY:
            continued = self.keypad.typed != ""
            self._set_score(self.keypad.press(digit), merge=continued and self.keypad.typed != digit)

    def adjust(self, step: int) -> None:
        """Raise or lower the score of the line in focus."""
        self.keypad.reset()
        present = self._score()
        if self.focus == OVERALL and present is None:
            present = computed_overall(self.card, self.rubric)
        if self.focus != SUMMARY:
            self._set_score(min(max((75 if present is None else present) + step, 0), 100), merge=True)

    def clear_score(self) -> None:
        """Take the score of the line in focus away (undo brings it back)."""
        self.keypad.reset()
        if self.focus != SUMMARY:
            self._set_score(None)

    def _score(self) -> int | None:
        focus = self.focus
        return focus_score(self.card, focus)

    def _set_score(self, value: int | None, *, merge: bool = False) -> None:
        focus = self.focus
        if isinstance(focus, Dimension):
            self.change(f"{focus.title} score", self.card.with_score(focus.id, value), merge=merge)
        elif focus == OVERALL:
            self.change("overall", self.card.with_overall(value), merge=merge)

    def text(self) -> str:
        """The text that belongs to the line in focus: comment, reason, or summary."""
        focus = self.focus
        if isinstance(focus, Dimension):
            return self.card.comment(focus.id)
        return self.card.overall_reason if focus == OVERALL else self.card.summary

    def set_text(self, text: str, *, index: int, row: Row) -> None:
        """Set the text of a line while it is typed; one editing is one step of undo."""
        card = self.logs[index].card
        if isinstance(row, Dimension):
            changed, label = card.with_comment(row.id, text), f"{row.title} comment"
        elif row == OVERALL:
            changed, label = card.with_overall(card.overall, text), "reason"
        else:
            changed, label = card.with_summary(text), "summary"
        self.change(label, changed, index=index, merge=True, typing=True)

    def put_note(self, index: int, note: Note, *, typing: bool = True) -> None:
        """Add a note or change the one with its id."""
        self.change(
            f"{note.kind} note {note.id}",
            self.logs[index].card.with_note(note),
            index=index,
            merge=True,
            typing=typing,
        )

    def drop_note(self, index: int, note_id: str) -> None:
        """Delete a note (undo brings it back)."""
        self.change("delete note", self.logs[index].card.without_note(note_id), index=index)

    def change(
        self,
        label: str,
        card: Scorecard,
        *,
        index: int | None = None,
        merge: bool = False,
        typing: bool = False,
    ) -> None:
        """Make a change: it enters the history and goes to disk."""
        index = self.scored if index is None else index
        if card.created is None:
            card = replace(card, created=now())
        if self._applied(index, label, card, merge=merge):
            self._save(index, typing=typing)

    def _applied(self, index: int, label: str, card: Scorecard, *, merge: bool = False) -> bool:
        """Take a change into the history; whether it changes anything."""
        before = self.logs[index]
        merge = merge and bool(self._order) and self._order[-1] == index
        after = before.apply(label, card, merge=merge)
        if after is before:
            return False
        self.logs[index] = after
        grown = len(after.past) - len(before.past)
        if grown > 0:
            self._order.append(index)
        elif grown < 0 and self._order:
            self._order.pop()
        self._undone.clear()
        self._history.tell(index, Step("do", label, card, merge))
        return True

    def seal(self) -> None:
        """End an editing: the next change of the same text is a step of its own."""
        for index, log in enumerate(self.logs):
            if log.past:
                self.logs[index] = log.sealed()
                self._history.tell(index, Step("seal"))

    def undo(self) -> str | None:
        """Take back the last change, of whichever submission; what it was, or ``None``."""
        self.keypad.reset()
        if not self._order:
            return None
        index = self._order.pop()
        label = self.logs[index].undo_label
        self.logs[index] = self.logs[index].undo()
        self._history.tell(index, Step("undo"))
        self._undone.append(index)
        self._save(index)
        return self._named(index, label)

    def redo(self) -> str | None:
        """Bring the last undone change back; what it was, or ``None``."""
        if not self._undone:
            return None
        index = self._undone.pop()
        label = self.logs[index].redo_label
        self.logs[index] = self.logs[index].redo()
        self._history.tell(index, Step("redo"))
        self._order.append(index)
        self._save(index)
        return self._named(index, label)

    def _named(self, index: int, label: str | None) -> str:
        return f"{letter_of(index)}: {label or 'change'}"

    # what is known

    def seen(self, outcome: Outcome) -> None:
        """Take an outcome in."""
        self.outcomes[outcome.model, outcome.check] = outcome

    def forget(self, model: str) -> None:
        """The outcomes of a submission are of files that are no more."""
        self.outcomes = {key: outcome for key, outcome in self.outcomes.items() if key[0] != model}

    def verdicts(self, index: int) -> Mapping[str, str]:
        """Check id → verdict of a submission; those of the card where no check has run."""
        model = self.submissions[index].model
        live = {check: str(o.verdict) for (name, check), o in self.outcomes.items() if name == model}
        return live or {seen.check: seen.verdict for seen in self.logs[index].card.checks}

    def conflicts(self, index: int) -> dict[str, str]:
        """Dimension id (or ``overall``) → a sentence on what does not fit."""
        card = self.logs[index].card
        found = cap_conflicts(card, self.rubric, self.rubric.caps_for(self.verdicts(index)))
        own = overall_conflict(card, self.rubric)
        return found | ({OVERALL: own[0].upper() + own[1:]} if own else {})

    def caps(self, index: int, dimension: str) -> tuple[str, ...]:
        """What limits a dimension now, one sentence each."""
        caps = self.rubric.caps_for(self.verdicts(index))
        return tuple(f"At most {c.max}: {c.when}. {c.reason}" for c in caps if c.dimension == dimension)

    def mean(self, index: int) -> int | None:
        """The weighted mean of what is scored."""
        return computed_overall(self.logs[index].card, self.rubric)

    def points(self, index: int) -> int | None:
        """What the card says in points, if it says so yet."""
        return points(self.logs[index].card, self.rubric)

    def notes(self, index: int, file: str | None = None, text: str | None = None) -> tuple[Note, ...]:
        """Notes of a submission, or of one file of it, moved to where their quotes stand in ``text``."""
        notes = [n for n in self.logs[index].card.notes if file is None or n.file == file]
        return tuple(notes if text is None else [reanchor(note, text) for note in notes])

    # blind judging

    @property
    def unscored(self) -> int:
        """Dimensions without a score, of all submissions."""
        dimensions = self.rubric.dimensions
        return sum(log.card.score(one.id) is None for log in self.logs for one in dimensions)

    def reveal(self) -> bool:
        """Show the names from now on, which cannot be taken back; whether that was due."""
        if not self.blindfold.active or self.unscored:
            return False
        self.seal()
        self.blindfold.begin()
        letters = [letter_of(index) for index in range(len(self.submissions))]
        self.blindfold.reveal([log.card for log in self.logs], letters)
        for index in range(len(self.submissions)):
            self._save(index)
        return True

    # disk

    def _save(self, index: int, *, typing: bool = False) -> None:
        for other in self.blindfold.begin():
            if other != index:
                self._save(other)
        submission, card = self.submissions[index], self.logs[index].card
        card = card.judged_under(self.rubric, submission.digest)
        model = submission.model
        seen = [
            CheckSeen(check, str(o.verdict), o.summary)
            for (m, check), o in self.outcomes.items()
            if m == model
        ]
        if seen:
            card = card.with_checks(seen)
        card = self.blindfold.stamped(index, card)
        self._autosave.submit(index, card, typing=typing)

    def save_restored(self) -> None:
        """Bring the work of an earlier run to disk, once somebody hears how that went."""
        for index in self.restored:
            self._save(index)

    def save(self, index: int) -> None:
        """Try again to write a card or the matchup, as after a fault of the disk."""
        if index < len(self.submissions):
            self._save(index)
        elif self.matchup is not None:
            self.matchup.save()

    def overwrite(self, index: int) -> None:
        """Settle a conflict: this window's card wins; the other stays reachable by undo."""
        if index < len(self.submissions):
            self._take_theirs(index, "as saved by the other window", mine_last=True)
        elif self.matchup is not None:
            self.matchup.settle(mine=True)

    def reload(self, index: int) -> None:
        """Settle a conflict: the card on disk wins; this window's stays reachable by undo."""
        if index < len(self.submissions):
            self._take_theirs(index, "load the other window's card", mine_last=False)
        elif self.matchup is not None:
            self.matchup.settle(mine=False)

    def open_matchup(self) -> MatchupDesk:
        """The matchup of what is compared; saves of it are told with the index after the submissions'.

        Raises:
            WorkspaceError: Its file is malformed.
        """
        if self.matchup is None:
            index = len(self.submissions)
            models = [submission.model for submission in self.submissions]
            self.matchup = MatchupDesk(
                self.workspace,
                self.task,
                models,
                self.judge,
                lambda report: self._report(replace(report, index=index)),
            )
            self.paths.append(self.matchup.path)
        return self.matchup

    def _take_theirs(self, index: int, label: str, *, mine_last: bool) -> None:
        try:
            theirs, stamp = self.workspace.scorecard(self.task, self.submissions[index].model, self.judge)
        except JudgeError:
            # unreadable: what is on screen is the better copy, and is written over it
            theirs, stamp = self.logs[index].card, FileStamp.at(self.paths[index])
        mine = self.logs[index].card
        self._take_blind_marks()
        self._autosave.resolve(index, stamp)
        self.change(label, theirs, index=index)
        if mine_last:
            self.change("keep this window's card", mine, index=index)
        self._save(index)

    def _take_blind_marks(self) -> None:
        """A window that reveals the names does so on every card: learn it from all of them."""
        for index, submission in enumerate(self.submissions):
            with suppress(JudgeError):
                card, _ = self.workspace.scorecard(self.task, submission.model, self.judge)
                self.blindfold.take(index, card.blind)

    def unsaved(self) -> tuple[int, ...]:
        """Submissions whose card is not on disk; the index after them stands for the matchup."""
        beside = (len(self.submissions),) if self.matchup is not None and self.matchup.unsaved else ()
        return (*self._autosave.unsaved(), *beside)

    def lost(self) -> tuple[int, ...]:
        """Submissions whose card would be lost by leaving now; the index after them is the matchup's."""
        beside = (len(self.submissions),) if self.matchup is not None and self.matchup.lost else ()
        return (*self._autosave.lost(), *beside)

    def flush(self) -> None:
        """Wait until everything is on disk."""
        self._autosave.flush()
        if self.matchup is not None:
            self.matchup.flush()

    def close(self) -> None:
        """Save everything and stop."""
        if self.matchup is not None:
            self.matchup.close()
        self._autosave.close()
        self._history.close()


def focus_score(card: Scorecard, row: Row) -> int | None:
    """The score of a line of the rubric."""
    if isinstance(row, Dimension):
        return card.score(row.id)
    return card.overall if row == OVERALL else None
