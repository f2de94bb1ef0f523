"""The scorecards of a comparison: their changes, their files, and conflicts over them. Plain Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome
from judge_tui.judging.attesting import attested, checks_seen, files_judged
from judge_tui.judging.card import Scorecard, now
from judge_tui.judging.naming import recordable
from judge_tui.judging.note import Note
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.storage import FileStamp
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.blind.blindfold import Blindfold
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.desk.card_conflicts import CardConflicts, is_on_disk, merging, with_what_is_older
from judge_tui.tui.desk.document_desk import DocumentDesk, Kind
from judge_tui.tui.desk.placements import Placements, Search
from judge_tui.tui.desk.step_words import DELETED, described
from judge_tui.tui.kept import rescue
from judge_tui.tui.kept.documents import SCORECARD

if TYPE_CHECKING:
    from judge_tui.tui.desk.matchup_desk import MatchupDesk

__all__ = ["CardDesk", "letter_of"]


def letter_of(index: int) -> str:
    """``A``, ``B``, ``C``: how a submission is called where room is scarce."""
    return "ABCDEFGH"[index]


class CardDesk(CardConflicts):
    """One judge's cards of what is compared; every change is on disk within a moment, and can be undone.

    Args:
        workspace: Where rubric and scores are.
        submissions: Two or three submissions of one task.
        judge: Who judges.
        report: Told about saves, in the saving thread; matchups have the indices after the submissions'.
        blind: Judge without knowing which submission is whose.

    Attributes:
        submissions: In the order of the screen, which is drawn where the comparison is blind.
        blindfold: What may be shown of the names.
        changes: What was done to the cards.
        placements: Where the notes of each card are.
        outcomes: (model, check id) → outcome.
        paths: File of each card, then that of each matchup that is open.
        matchups: Those that are open: submissions' indices → matchup, in the order of opening.
        restored: Submissions for which unsaved work of earlier runs was taken up.
        earlier_runs: Those submissions → of how many runs.
        behind: Those of them whose card on disk has been changed since: saving is a conflict to settle.
        damaged: Submissions and files, where unsaved work cannot be read and was set aside.
        newer: Submissions and files, where a newer judge-tui has kept unsaved work.
        closed: Submissions whose card is of a newer schema, and so cannot be changed → why, one sentence.
        waiting: Those of them for which unsaved work of earlier runs is kept until then.
        refused: Told the submission and why, whenever a change of its card is refused.

    Raises:
        JudgeError: A scorecard or the rubric is malformed, the drawn order cannot be kept,
            or a name is not UTF-8.
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
        recordable([submission.model for submission in submissions])
        recordable([submission.task for submission in submissions], "task")
        self.workspace, self.judge = workspace, judge
        self.blindfold = Blindfold(workspace, submissions, judge, wanted=blind)
        self.submissions = self.blindfold.seated
        self.task = self.submissions[0].task
        self.rubric: Rubric = workspace.rubric(self.task)
        self.paths = [workspace.scorecard_path(self.task, s.model, judge) for s in self.submissions]
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        self.matchups: dict[tuple[int, ...], MatchupDesk] = {}
        self._report = report
        self.refused: Callable[[int, str], None] = lambda _, __: None
        on_disk = [self._on_disk(index) for index in range(len(self.submissions))]
        kind = Kind(SCORECARD, self._on_disk, is_on_disk, with_what_is_older, merging)
        self._desk = DocumentDesk(kind, self.paths, self.paths, on_disk, report, self._heard)
        self.changes, self.closed = self._desk.changes, self._desk.closed
        self.restored, self.earlier_runs = self._desk.restored, self._desk.earlier_runs
        self.behind, self.damaged, self.newer = self._desk.behind, self._desk.damaged, self._desk.newer
        self.waiting = tuple(index for index in self.closed if rescue.every_kept(self.paths[index]))
        self.placements = [
            Placements(submission, there.value)
            for submission, there in zip(self.submissions, on_disk, strict=True)
        ]
        self._written: dict[int, Scorecard] = {}

    def _heard(self, index: int, card: Scorecard) -> None:
        self.blindfold.take(index, card.blind)

    @property
    def cards(self) -> tuple[Scorecard, ...]:
        """The card of each submission as it is now."""
        return self.changes.now

    # changing

    def refuses(self, index: int) -> bool:
        """Whether a card cannot be changed; whoever wants to is told why."""
        why = self.closed.get(index)
        if why is not None:
            self.refused(index, why)
        return why is not None

    def change(
        self, index: int, label: str, card: Scorecard, *, merge: bool = False, typing: bool = False
    ) -> None:
        """Make a change: it enters the history and goes to disk, where the card can be changed.

        Args:
            index: Whose card.
            label: What undo will call it.
            card: The card after it.
            merge: Join it with the last change when that was the same.
            typing: It is a keystroke of a longer text: saving may wait a moment.
        """
        if card == self.changes[index] or self.refuses(index):
            return
        if card.created is None:
            card = replace(card, created=now())
        card = self._attested(index, self.changes[index], card)
        if self.changes.make(index, label, card, merge=merge):
            self._save(index, typing=typing)

    def put_note(self, index: int, note: Note, *, typing: bool = True) -> None:
        """Add a note or change the one with its id."""
        after = self.changes[index].with_note(note)
        self.change(index, f"{note.kind} note {note.id}", after, merge=True, typing=typing)

    def drop_note(self, index: int, note_id: str) -> None:
        """Delete a note (undo brings it back)."""
        self.change(index, DELETED, self.changes[index].without_note(note_id))

    def seal(self) -> None:
        """End an editing: the next change of the same text is a step of its own."""
        self.changes.seal()

    def undo(self, *, theirs: bool = False) -> str | None:
        """Take back the last change that was made here, of whichever submission; what it was, or ``None``.

        Args:
            theirs: Take back what was written elsewhere instead, where that stands in the way.
        """
        before = self.cards
        return self._saved(self.changes.undo_foreign() if theirs else self.changes.undo(), before)

    def redo(self) -> str | None:
        """Bring the last undone change back; what it was, or ``None``."""
        before = self.cards
        return self._saved(self.changes.redo(), before)

    def _saved(self, step: tuple[int, str] | None, before: Sequence[Scorecard]) -> str | None:
        if step is None:
            return None
        index, label = step
        self._save(index)
        return f"{letter_of(index)}: {described(label, before[index], self.changes[index])}"

    # blind judging

    @property
    def unscored(self) -> int:
        """Dimensions without a score, of all submissions."""
        return sum(card.score(one.id) is None for card in self.cards for one in self.rubric.dimensions)

    @property
    def revealable(self) -> bool:
        """Whether names are hidden, everything is scored, and every card can be told of the reveal."""
        return self.blindfold.active and not self.unscored and not self.closed

    def reveal(self) -> bool:
        """Show the names from now on, which cannot be taken back; whether that was due."""
        if not self.revealable:
            return False
        self.seal()
        self.blindfold.begin()
        everyone = range(len(self.submissions))
        self.blindfold.reveal(self.cards, [letter_of(index) for index in everyone])
        for index in everyone:
            self._save(index)
        return True

    # disk

    def _begin_blind(self) -> None:
        """A winner that is named blind seals the cards as a score does."""
        for index in self.blindfold.begin():
            self._save(index)

    def _save(self, index: int, *, typing: bool = False) -> None:
        if index in self.closed:
            return
        for other in self.blindfold.begin():
            if other != index:
                self._save(other)
        card = self.changes[index]
        card = self._attested(index, card, card)
        card = self._stated(index, card)
        self._written[index] = card
        self._desk.autosave.submit(index, self.blindfold.stamped(index, card), typing=typing)

    def _stated(self, index: int, card: Scorecard) -> Scorecard:
        """A card whose notes say where they are now, as far as that was looked for."""
        return replace(card, notes=tuple(map(self.placements[index].stated, card.notes)))

    def take_places(self, index: int, search: Search) -> None:
        """Take in where the notes of a card are.

        What was written before that was known is written again, and so is what their lines have become while
        they were looked at: nobody could find that out again.
        """
        self.placements[index].take(search)
        if index in self.closed:
            return
        written = self._written.get(index)
        bare = {note.id for note in written.notes if note.context is None} if written is not None else set()
        card = self._stated(index, self.changes[index])
        if any(note.id in bare and note.file and note.context for note in card.notes):
            self._save(index)
        elif self._was_followed(index, card):
            # no word of the judge: neither scored nor begun blind by it
            self._desk.autosave.submit(index, self.blindfold.stamped(index, card), typing=True)

    def _was_followed(self, index: int, card: Scorecard) -> bool:
        """Whether lines of notes have become others, and that is not on disk."""
        on_disk = self._desk.autosave.found(index)
        known = {} if on_disk is None else {note.id: note.followed for note in on_disk.notes}
        there = ((known[note.id], note.followed) for note in card.notes if note.id in known and note.followed)
        return any(old is None or old.spot != new.spot for old, new in there)

    def _attested(self, index: int, before: Scorecard, after: Scorecard) -> Scorecard:
        submission = self.submissions[index]
        # a card that is only begun is of the files here
        digest = files_judged(submission, elsewhere=before.scored_elsewhere and not before.blank)
        seen = checks_seen(one for (model, _), one in self.outcomes.items() if model == submission.model)
        return attested(before, after, self.rubric, digest, seen)

    def strays(self) -> list[tuple[int, str]]:
        """What the cards on disk say on dimensions that the rubric has not: submission, and a sentence."""
        from judge_tui.judging.strays import strays_of

        told: list[tuple[int, str]] = []
        for index in range(len(self.submissions)):
            with suppress(JudgeError):
                card = self._on_disk(index).value
                told += ((index, stray) for stray in strays_of(self.workspace, card, self.rubric))
        return told

    def unknown_checks(self, known: Collection[str]) -> tuple[str, ...]:
        """Checks that the rubric names and the task has not, a sentence each: caps that never bite."""
        from judge_tui.judging.known_checks import unknown_checks

        with suppress(JudgeError):
            return tuple(map(str, unknown_checks(self.workspace.rubric_path(self.task), self.task, known)))
        return ()

    def save_restored(self) -> None:
        """Bring the work of an earlier run to disk, or into a conflict, once somebody hears how that went."""
        for index in self.restored:
            self._save(index)

    def save(self, index: int) -> None:
        """Try again to write a card or the matchup, as after a fault of the disk."""
        if index < len(self.submissions):
            self._save(index)
        else:
            self._matchup(index).save()

    def take_in(self, index: int) -> bool:
        """Take a card as another window has saved it, where nothing here is unsaved; an undo away.

        What is gone or cannot be read is left to the next save, and so is a card with unsaved work, which
        becomes a conflict.

        One of a newer schema can only be looked at from then on.

        Returns:
            Whether the card says something else now.
        """
        if index in self._desk.autosave.unsaved():
            return False
        with suppress(JudgeError):
            if FileStamp.at(self.paths[index]) in (None, self._desk.autosave.stamp(index)):
                return False
            there = self._on_disk(index)
            if there.stamp is not None:
                self.blindfold.take(index, there.value.blind)
                if not there.refusal and index not in self.closed:
                    return self._desk.take_in(index, there)
                self._desk.autosave.resolve(index, there.stamp, there.value)
                self.changes.close_off(index, there.value)
                if index not in self.closed:
                    self.closed[index] = there.refusal
                    self.refuses(index)
                return True
        return False

    def is_gone(self, index: int) -> bool:
        """Whether a card that was on disk is there no more, though nothing here is unsaved."""
        autosave = self._desk.autosave
        if index in self.closed or index in autosave.unsaved() or autosave.stamp(index) is None:
            return False
        with suppress(JudgeError):
            return FileStamp.at(self.paths[index]) is None
        return False

    def open_matchup(self, seats: Sequence[int] = ()) -> MatchupDesk:
        """A matchup of what is compared, or of two of three.

        Args:
            seats: Indices of its submissions, rising; all by default.

        Raises:
            WorkspaceError: Its file is malformed.
        """
        seats = tuple(seats) or tuple(range(len(self.submissions)))
        if seats not in self.matchups:
            from judge_tui.tui.desk.matchup_desk import MatchupDesk

            index = len(self.submissions) + len(self.matchups)
            desk = MatchupDesk(
                self.workspace,
                self.task,
                [self.submissions[seat].model for seat in seats],
                self.judge,
                lambda report: self._report(replace(report, index=index)),
                lambda: self._digests(seats),
                self._begin_blind,
            )
            self.matchups[seats] = desk
            self.paths.append(desk.path)
        return self.matchups[seats]

    def _matchup(self, index: int) -> MatchupDesk:
        """The matchup that an index after those of the submissions stands for."""
        return list(self.matchups.values())[index - len(self.submissions)]

    def _digests(self, seats: Iterable[int]) -> dict[str, str]:
        found = {}
        for submission in map(self.submissions.__getitem__, seats):
            # a folder that cannot be read now says so elsewhere
            with suppress(JudgeError):
                found[submission.model] = submission.digest
        return found

    def unsaved(self) -> tuple[int, ...]:
        """Submissions whose card is not on disk; the indices after them stand for the matchups."""
        matchups = enumerate(self.matchups.values(), len(self.submissions))
        return (*self._desk.autosave.unsaved(), *(index for index, desk in matchups if desk.unsaved))

    def lost(self) -> tuple[int, ...]:
        """Submissions whose card would be lost by leaving now; the indices after them are the matchups'."""
        matchups = enumerate(self.matchups.values(), len(self.submissions))
        return (*self._desk.autosave.lost(), *(index for index, desk in matchups if desk.lost))

    def flush(self) -> None:
        """Wait until everything is on disk."""
        self._desk.autosave.flush()
        for desk in self.matchups.values():
            desk.flush()

    def close(self) -> None:
        """Save everything and stop."""
        for desk in self.matchups.values():
            desk.close()
        self._desk.close()
