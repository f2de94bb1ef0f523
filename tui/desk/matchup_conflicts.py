"""A matchup that was changed here and elsewhere: made one, asked about where both have changed the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.matchup import Matchup, stamp_of
from judge_tui.judging.refusals import matchups_refusal
from judge_tui.judging.storage import FileStamp
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.autosave import Autosave
from judge_tui.tui.desk.changes import KEPT, THEIRS, Changes

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Side
    from judge_tui.judging.versions import Differing

__all__ = ["MatchupConflicts", "Who"]

#: Says who is ahead: a model, ``"tie"``, or nobody yet.
Who = Callable[[str | None], str]


class MatchupConflicts:
    """The part of a matchup's desk that settles conflicts."""

    models: tuple[str, ...]
    changes: Changes[Matchup]
    _workspace: Workspace
    _task: str
    _judge: str
    _autosave: Autosave

    if TYPE_CHECKING:
        # what the desk brings
        @property
        def matchup(self) -> Matchup: ...
        def save(self, *, typing: bool = False) -> None: ...

    def differences(self, who: Who) -> list[Differing]:
        """What this window's matchup and that on disk say differently; ``who`` says who is ahead."""
        from judge_tui.judging.versions import matchup_differences

        with suppress(JudgeError):
            theirs = self._workspace.matchups(self._task, self._judge).between(self.models)
            return list(matchup_differences(self.matchup, theirs, who))
        return []

    def clashes(self, who: Who) -> list[tuple[Key, Differing]]:
        """What was changed here and on disk, and differently; ``who`` says who is ahead."""
        found = self._joinable()
        if found is None:
            return []
        from judge_tui.judging.merged_matchup import matchup_clash, merged_matchups

        ours, theirs = self.matchup, found[0]
        joined = merged_matchups(self._autosave.found(0), ours, theirs)
        return [(key, matchup_clash(key, ours, theirs, who)) for key in joined.clashes]

    def merge(self, chosen: Mapping[Key, Side]) -> bool:
        """Settle a conflict by keeping what was changed on either side; each choice is a step of undo.

        Args:
            chosen: Whose word counts where both have changed the same.

        Returns:
            Whether that settles it: not where something is to be chosen, nor where the file cannot be read.
        """
        found = self._joinable()
        if found is None:
            return False
        from judge_tui.judging.merged_matchup import MATCHUP, merged_matchups

        (theirs, stamp), ours = found, self.matchup
        joined = merged_matchups(self._autosave.found(0), ours, theirs)
        if not chosen.keys() >= set(joined.clashes):
            return False
        self._autosave.resolve(0, stamp, theirs)
        self.changes.take_in(0, joined.value)
        self.changes.choose(0, MATCHUP, [(key, chosen[key]) for key in joined.clashes], ours, theirs)
        self.save()
        return True

    def _joinable(self) -> tuple[Matchup, FileStamp] | None:
        """The matchup on disk, where it can be made one with that of this window."""
        with suppress(JudgeError):
            whole = self._workspace.matchups(self._task, self._judge)
            stamp = stamp_of(whole, self.models)
            if stamp is not None and not matchups_refusal(self._workspace, whole):
                return whole.between(self.models), stamp
        return None

    def settle(self, *, mine: bool) -> None:
        """Settle a conflict: this window's matchup wins, or that on disk; undo brings the other back.

        A file that has become unreadable, or of a newer schema, is left as it is; the next save tells so.
        """
        try:
            whole = self._workspace.matchups(self._task, self._judge)
        except JudgeError:
            self.save()
            return
        if matchups_refusal(self._workspace, whole):
            self.save()
            return
        theirs, ours = whole.between(self.models), self.matchup
        self._autosave.resolve(0, stamp_of(whole, self.models), theirs)
        self.changes.make(0, THEIRS, theirs)
        if mine:
            self.changes.make(0, KEPT, ours)
        self.save()
