"""Documents of one kind under a judge's hands: their history, their files, and conflicts over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.storage import FileStamp
from judge_tui.tui.desk.autosave import Autosave, SaveReport
from judge_tui.tui.desk.changes import KEPT, THEIRS, Changes
from judge_tui.tui.kept.documents import Document
from judge_tui.tui.kept.rescue import Kept, Rescue, joined

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Merged, Parts, Side
    from judge_tui.judging.versions import Differing

__all__ = ["DocumentDesk", "Kind", "OnDisk"]

D = TypeVar("D")


class OnDisk(Struct, Generic[D], frozen=True):
    """A document as it is on disk.

    Attributes:
        value: What it says.
        stamp: What tells this state of its file from others; ``None`` where there is none.
        refusal: Why it cannot be changed here, one sentence; empty where it can.
    """

    value: D
    stamp: FileStamp | None = None
    refusal: str = ""


class Kind(Struct, Generic[D], frozen=True):
    """What a desk knows of its documents.

    Attributes:
        document: How they are written and remembered.
        read: Reads one, by its index; raises ``JudgeError``.
        known: Whether what is on disk (the first) says all that an earlier run has kept (the second).
        with_older: What an older run's was begun on, it, and a newer one's → the newer one with what only the
            older one has changed.
        merging: How they are taken apart, and made one of what they were, are here and are on disk; asked for
            where that is needed.
        same: Whether a judge says the same in two of them.
    """

    document: Document[D]
    read: Callable[[int], OnDisk[D]]
    known: Callable[[D, D], bool]
    with_older: Callable[[D | None, D, D], D]
    merging: Callable[[], tuple[Parts[D], Callable[[D | None, D, D], Merged[D]]]]
    same: Callable[[D, D], bool] | None = None


class DocumentDesk(Generic[D]):
    """Holds documents: every change is on disk within a moment, and can be undone.

    Args:
        kind: What they are.
        names: What journal and kept work of each are called after.
        files: Where each is.
        found: Each as it is on disk.
        report: Told about saves, in the saving thread.
        heard: Told what earlier runs have kept of each.

    Attributes:
        changes: What was done to them.
        closed: Those that cannot be changed → why, one sentence.
        restored: Those for which unsaved work of earlier runs was taken up.
        earlier_runs: Those → of how many runs.
        behind: Those of them that have been changed on disk since: saving is a conflict to settle.
        damaged: Which, and files where unsaved work cannot be read and was set aside.
        newer: Which, and files where a newer judge-tui has kept unsaved work.
    """

    def __init__(
        self,
        kind: Kind[D],
        names: Sequence[Path],
        files: Sequence[Path],
        found: Sequence[OnDisk[D]],
        report: Callable[[SaveReport], None],
        heard: Callable[[int, D], None] = lambda _, __: None,
    ) -> None:
        self._kind, self._heard = kind, heard
        self._files, self._opened = tuple(files), tuple(found)
        self.closed = {index: one.refusal for index, one in enumerate(found) if one.refusal}
        self._rescues = [Rescue(name, kind.document) for name in names]
        self._rescued: dict[int, tuple[Kept, ...]] = {}
        values = [one.value for one in found]
        self.changes = Changes(list(names), values, kind.document, kind.same, self._kept, self.closed)
        rescued = self._rescued
        self.restored = tuple(rescued)
        self.earlier_runs = {index: len(kept) for index, kept in rescued.items()}
        self.damaged = [(index, place) for index, one in enumerate(self._rescues) for place in one.damaged]
        self.newer = [(index, place) for index, one in enumerate(self._rescues) for place in one.newer]
        self.behind = tuple(index for index, kept in rescued.items() if kept[-1].behind)
        stamps = [rescued[i][-1].stamp if i in rescued else one.stamp for i, one in enumerate(found)]
        begun = [rescued[i][-1].begun if i in self.behind else value for i, value in enumerate(values)]
        self.autosave = Autosave(list(names), stamps, report, self._rescues, kind.document, begun)

    def _kept(self, index: int, every: bool) -> list[D]:
        """Take up what earlier runs could not save of one, all of it or the newest."""
        if index in self.closed:
            return []
        opened = self._opened[index]
        known = partial(self._kind.known, opened.value)
        kept = self._rescues[index].take_up(self._files[index], opened.stamp, known, every=every)
        for one in kept:
            self._heard(index, one.card)
        if len(kept) > 1:
            kept = joined(kept, self._kind.with_older)
        if kept:
            self._rescued[index] = kept
        return [one.card for one in kept]

    # what another window or a program has written

    def take_in(self, index: int, there: OnDisk[D]) -> bool:
        """Take one as it is on disk, where nothing here is unsaved; whether it says something else now."""
        self.autosave.resolve(index, there.stamp, there.value)
        return self.changes.take_in(index, there.value)

    def clashes(
        self, index: int, ours: D, told: Callable[[Key, D, D], Differing]
    ) -> list[tuple[Key, Differing]]:
        """What was changed here and on disk, and differently.

        Args:
            index: Which document.
            ours: It, as it is here.
            told: Of what both have changed, what is said here and there.
        """
        there = self._joinable(index)
        if there is None:
            return []
        _, merged = self._kind.merging()
        clashing = merged(self.autosave.found(index), ours, there.value).clashes
        return [(key, told(key, ours, there.value)) for key in clashing]

    def merge(self, index: int, ours: D, chosen: Mapping[Key, Side]) -> bool:
        """Settle a conflict by keeping what was changed on either side; each choice is a step of undo.

        Args:
            index: Which document, to be saved after that.
            ours: It, as it is here.
            chosen: Whose word counts where both have changed the same.

        Returns:
            Whether that settles it: not where something is to be chosen, nor where what is on disk is gone,
            unreadable, or of a newer schema.
        """
        there = self._joinable(index)
        if there is None:
            return False
        parts, merged = self._kind.merging()
        whole = merged(self.autosave.found(index), ours, there.value)
        if not chosen.keys() >= set(whole.clashes):
            return False
        self.autosave.resolve(index, there.stamp, there.value)
        self.changes.take_in(index, whole.value)
        self.changes.choose(index, parts, [(key, chosen[key]) for key in whole.clashes], ours, there.value)
        return True

    def settle(self, index: int, there: OnDisk[D], *, mine: bool, theirs: str = THEIRS) -> None:
        """Settle a conflict as a whole: what is here wins, or what is on disk; undo brings the other back.

        Args:
            index: Which document, to be saved after that.
            there: It, as it is on disk.
            mine: Whether what is here wins.
            theirs: What undo calls the step to what is on disk.
        """
        self.autosave.resolve(index, there.stamp, there.value)
        ours = self.changes[index]
        self.changes.make(index, theirs, there.value)
        if mine:
            self.changes.make(index, KEPT, ours)

    def _joinable(self, index: int) -> OnDisk[D] | None:
        """One on disk, where it can be made one with that of this window."""
        with suppress(JudgeError):
            there = self._kind.read(index)
            if there.stamp is not None and not there.refusal:
                return there
        return None

    def close(self) -> None:
        """Save everything and stop."""
        self.autosave.close()
        self.changes.close()
