"""Cards that were changed here and elsewhere: made one, and asked about where both have changed the same."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.schema import SCORECARD
from judge_tui.checks.submission import Submission
from judge_tui.judging.card import Scorecard
from judge_tui.judging.newer import newer_on_disk
from judge_tui.judging.refusals import card_refusal
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.storage import FileStamp, read_bytes
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.blind.blindfold import Blindfold
from judge_tui.tui.desk.autosave import Autosave
from judge_tui.tui.desk.changes import KEPT, THEIRS, Changes
from judge_tui.tui.kept import rescue

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Side
    from judge_tui.judging.versions import Differing
    from judge_tui.tui.desk.matchup_conflicts import Who
    from judge_tui.tui.desk.matchup_desk import MatchupDesk

__all__ = ["CardConflicts"]


class CardConflicts:
    """The part of a desk that settles conflicts. The indices after the submissions stand for the matchups."""

    workspace: Workspace
    submissions: tuple[Submission, ...]
    judge: str
    task: str
    rubric: Rubric
    changes: Changes[Scorecard]
    blindfold: Blindfold
    paths: list[Path]
    _autosave: Autosave

    if TYPE_CHECKING:
        # what the desk brings
        def _save(self, index: int) -> None: ...
        def _stated(self, index: int, card: Scorecard) -> Scorecard: ...
        def _matchup(self, index: int) -> MatchupDesk: ...

    def _on_disk(self, index: int) -> tuple[Scorecard, FileStamp | None]:
        return self.workspace.scorecard(self.task, self.submissions[index].model, self.judge)

    # part by part

    def clashes(self, index: int, who: Who) -> list[tuple[Key, Differing]]:
        """What was changed here and on disk, and differently.

        Args:
            index: Whose card.
            who: Says who is ahead in a matchup.
        """
        if index >= len(self.submissions):
            return self._matchup(index).clashes(who)
        found = self._joinable(index)
        if found is None:
            return []
        from judge_tui.judging.merged_card import card_clash, merged_cards

        ours, theirs = self._stated(index, self.changes[index]), found[0]
        joined = merged_cards(self._autosave.found(index), ours, theirs)
        return [(key, card_clash(key, ours, theirs, self.rubric)) for key in joined.clashes]

    def merge(self, index: int, chosen: Mapping[Key, Side] | None = None) -> bool:
        """Settle a conflict by keeping what was changed on either side; each choice is a step of undo.

        Args:
            index: Whose card.
            chosen: Whose word counts where both have changed the same.

        Returns:
            Whether that settles it: not where something is to be chosen, nor where what is on disk is gone,
            unreadable, or of a newer schema.
        """
        chosen = chosen or {}
        if index >= len(self.submissions):
            return self._matchup(index).merge(chosen)
        found = self._joinable(index)
        if found is None:
            return False
        from judge_tui.judging.merged_card import CARD, merged_cards

        theirs, stamp = found
        ours = self._stated(index, self.changes[index])
        joined = merged_cards(self._autosave.found(index), ours, theirs)
        if not chosen.keys() >= set(joined.clashes):
            return False
        self._take_blind_marks()
        self._autosave.resolve(index, stamp, theirs)
        self.changes.take_in(index, joined.value)
        self.changes.choose(index, CARD, [(key, chosen[key]) for key in joined.clashes], ours, theirs)
        self._save(index)
        return True

    def _joinable(self, index: int) -> tuple[Scorecard, FileStamp] | None:
        """The card on disk, where it can be made one with that of this window."""
        with suppress(JudgeError):
            theirs, stamp = self._on_disk(index)
            if stamp is not None and not card_refusal(self.workspace, theirs):
                return theirs, stamp
        return None

    # as a whole

    def overwrite(self, index: int) -> str:
        """Settle a conflict: this window's card wins; the other stays reachable by undo.

        Returns:
            What the judge has to know of it; mostly nothing.
        """
        return self._settle(index, mine=True)

    def reload(self, index: int) -> str:
        """Settle a conflict: the card on disk wins; this window's stays reachable by undo.

        Returns:
            Why that is not possible; mostly nothing.
        """
        return self._settle(index, mine=False)

    def differences(self, index: int) -> list[Differing]:
        """What this window's card and that on disk say differently."""
        from judge_tui.judging.versions import card_differences

        with suppress(JudgeError):
            theirs, _ = self._on_disk(index)
            return list(card_differences(self.changes[index], theirs, self.rubric))
        return []

    def _settle(self, index: int, *, mine: bool) -> str:
        if index >= len(self.submissions):
            self._matchup(index).settle(mine=mine)
            return ""
        try:
            theirs, stamp = self._on_disk(index)
        except JudgeError as error:
            return self._write_over_unreadable(index, error) if mine else f"{error} It stays as it is."
        if newer := card_refusal(self.workspace, theirs):
            lost = index in self._autosave.lost()
            return str(newer) if lost else f"{newer} What was changed here is kept, and asked about then."
        self._take_blind_marks()
        self._autosave.resolve(index, stamp, theirs)
        ours = self.changes[index]
        label = THEIRS if mine else "load the other window's card"
        self.changes.make(index, label, theirs)
        if mine:
            self.changes.make(index, KEPT, ours)
        # at once: theirs, written on the way, would have what is kept of ours forgotten
        if mine or stamp is None:
            self._save(index)
        else:
            self._autosave.submit(index, self.blindfold.stamped(index, theirs))
        return ""

    def _write_over_unreadable(self, index: int, why: JudgeError) -> str:
        path = self.paths[index]
        if newer := newer_on_disk(path, SCORECARD):
            return str(newer)
        try:
            data = read_bytes(path)
            copy = None if data is None else rescue.set_aside(path, data)
        except JudgeError as error:
            return f"{why} It stays as it is, since no copy of it can be made: {error}"
        self._take_blind_marks()
        self._autosave.resolve(index, None if data is None else FileStamp.of(data))
        self._save(index)
        return f"{why} What stood there is kept in {copy}." if copy else ""

    def _take_blind_marks(self) -> None:
        """A window that reveals the names does so on every card: learn it from all of them."""
        for index, submission in enumerate(self.submissions):
            with suppress(JudgeError):
                card, _ = self.workspace.scorecard(self.task, submission.model, self.judge)
                self.blindfold.take(index, card.blind)
