"""Cards that were changed here and elsewhere: made one, and asked about where both have changed the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.schema import SCORECARD
from judge_tui.checks.submission import Submission
from judge_tui.judging.card import Scorecard
from judge_tui.judging.newer import newer_on_disk
from judge_tui.judging.read_only import refusal
from judge_tui.judging.refusals import card_refusal
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.storage import FileStamp, read_bytes
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.blind.blindfold import Blindfold
from judge_tui.tui.desk.changes import THEIRS, Changes
from judge_tui.tui.desk.document_desk import DocumentDesk, OnDisk
from judge_tui.tui.kept import rescue

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Merged, Parts, Side
    from judge_tui.judging.versions import Differing
    from judge_tui.tui.desk.matchup_conflicts import Who
    from judge_tui.tui.desk.matchup_desk import MatchupDesk

__all__ = ["CardConflicts", "is_on_disk", "merging", "with_what_is_older"]


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
    _desk: DocumentDesk[Scorecard]

    if TYPE_CHECKING:
        # what the desk brings
        def _save(self, index: int) -> None: ...
        def _stated(self, index: int, card: Scorecard) -> Scorecard: ...
        def _matchup(self, index: int) -> MatchupDesk: ...

    def _on_disk(self, index: int) -> OnDisk[Scorecard]:
        card, stamp = self.workspace.scorecard(self.task, self.submissions[index].model, self.judge)
        return OnDisk(card, stamp, str(refusal() or card_refusal(self.workspace, card) or ""))

    # part by part

    def clashes(self, index: int, who: Who) -> list[tuple[Key, Differing]]:
        """What was changed here and on disk, and differently.

        Args:
            index: Whose card.
            who: Says who is ahead in a matchup.
        """
        if index >= len(self.submissions):
            return self._matchup(index).clashes(who)
        from judge_tui.judging.merged_card import card_clash

        ours = self._stated(index, self.changes[index])
        return self._desk.clashes(index, ours, partial(card_clash, rubric=self.rubric))

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
        if not self._desk.merge(index, self._stated(index, self.changes[index]), chosen):
            return False
        self._take_blind_marks()
        self._save(index)
        return True

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
            theirs = self._on_disk(index).value
            return list(card_differences(self.changes[index], theirs, self.rubric))
        return []

    def _settle(self, index: int, *, mine: bool) -> str:
        if index >= len(self.submissions):
            self._matchup(index).settle(mine=mine)
            return ""
        try:
            there = self._on_disk(index)
        except JudgeError as error:
            return self._write_over_unreadable(index, error) if mine else f"{error} It stays as it is."
        if newer := there.refusal:
            lost = index in self._desk.autosave.lost()
            return newer if lost else f"{newer} What was changed here is kept, and asked about then."
        self._take_blind_marks()
        self._desk.settle(index, there, mine=mine, theirs=THEIRS if mine else "load the other window's card")
        # at once: theirs, written on the way, would have what is kept of ours forgotten
        if mine or there.stamp is None:
            self._save(index)
        else:
            self._desk.autosave.submit(index, self.blindfold.stamped(index, there.value))
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
        self._desk.autosave.resolve(index, None if data is None else FileStamp.of(data))
        self._save(index)
        return f"{why} What stood there is kept in {copy}." if copy else ""

    def _take_blind_marks(self) -> None:
        """A window that reveals the names does so on every card: learn it from all of them."""
        for index in range(len(self.submissions)):
            with suppress(JudgeError):
                self.blindfold.take(index, self._on_disk(index).value.blind)


def with_what_is_older(begun: Scorecard | None, older: Scorecard, newer: Scorecard) -> Scorecard:
    """A card with what an earlier run has changed in it; where both have, it stays as it is."""
    from judge_tui.judging.merged_card import CARD
    from judge_tui.judging.merging import merged

    clashes = merged(CARD, begun, older, newer).clashes
    return merged(CARD, begun, older, newer, dict.fromkeys(clashes, "theirs")).value


def is_on_disk(card: Scorecard, other: Scorecard) -> bool:
    """Whether a card says all that another one does, whenever either was written."""
    return replace(other, updated=card.updated, created=card.created) == card


def merging() -> tuple[Parts[Scorecard], Callable[..., Merged[Scorecard]]]:
    """How cards are taken apart, and made one."""
    from judge_tui.judging.merged_card import CARD, merged_cards

    return CARD, merged_cards
