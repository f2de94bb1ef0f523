"""A matchup that was changed here and elsewhere: made one, asked about where both have changed the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.matchup import Matchup, Matchups, stamp_of
from judge_tui.judging.read_only import refusal
from judge_tui.judging.refusals import matchups_refusal
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.changes import Changes
from judge_tui.tui.desk.document_desk import DocumentDesk, OnDisk

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Merged, Parts, Side
    from judge_tui.judging.versions import Differing

__all__ = ["MatchupConflicts", "Who", "merging", "with_what_is_older"]

#: Says who is ahead: a model, ``"tie"``, or nobody yet.
Who = Callable[[str | None], str]


class MatchupConflicts:
    """The part of a matchup's desk that settles conflicts."""

    models: tuple[str, ...]
    changes: Changes[Matchup]
    _workspace: Workspace
    _task: str
    _judge: str
    _documents: DocumentDesk[Matchup]

    if TYPE_CHECKING:
        # what the desk brings
        @property
        def matchup(self) -> Matchup: ...
        def save(self, *, typing: bool = False) -> None: ...

    def _on_disk(self, _: int = 0) -> OnDisk[Matchup]:
        return self._among(self._workspace.matchups(self._task, self._judge))

    def _among(self, whole: Matchups) -> OnDisk[Matchup]:
        why = str(refusal() or matchups_refusal(self._workspace, whole) or "")
        return OnDisk(whole.between(self.models), stamp_of(whole, self.models), why)

    def differences(self, who: Who) -> list[Differing]:
        """What this window's matchup and that on disk say differently; ``who`` says who is ahead."""
        from judge_tui.judging.versions import matchup_differences

        with suppress(JudgeError):
            return list(matchup_differences(self.matchup, self._on_disk().value, who))
        return []

    def clashes(self, who: Who) -> list[tuple[Key, Differing]]:
        """What was changed here and on disk, and differently; ``who`` says who is ahead."""
        from judge_tui.judging.merged_matchup import matchup_clash

        return self._documents.clashes(0, self.matchup, partial(matchup_clash, who=who))

    def merge(self, chosen: Mapping[Key, Side]) -> bool:
        """Settle a conflict by keeping what was changed on either side; each choice is a step of undo.

        Args:
            chosen: Whose word counts where both have changed the same.

        Returns:
            Whether that settles it: not where something is to be chosen, nor where the file cannot be read.
        """
        if not self._documents.merge(0, self.matchup, chosen):
            return False
        self.save()
        return True

    def settle(self, *, mine: bool) -> None:
        """Settle a conflict: this window's matchup wins, or that on disk; undo brings the other back.

        A file that has become unreadable, or of a newer schema, is left as it is; the next save tells so.
        """
        there = None
        with suppress(JudgeError):
            there = self._on_disk()
        if there is not None and not there.refusal:
            self._documents.settle(0, there, mine=mine)
        self.save()


def with_what_is_older(begun: Matchup | None, older: Matchup, newer: Matchup) -> Matchup:
    """A matchup with what an earlier run has changed in it; where both have, it stays as it is."""
    from judge_tui.judging.merged_matchup import merged_matchups

    clashes = merged_matchups(begun, older, newer).clashes
    return merged_matchups(begun, older, newer, dict.fromkeys(clashes, "theirs")).value


def merging() -> tuple[Parts[Matchup], Callable[..., Merged[Matchup]]]:
    """How matchups are taken apart, and made one."""
    from judge_tui.judging.merged_matchup import MATCHUP, merged_matchups

    return MATCHUP, merged_matchups
