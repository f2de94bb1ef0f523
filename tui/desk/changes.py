"""Changes of documents that are open together: one order of undo across all, kept over a restart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from judge_tui.judging.edits import EditLog
from judge_tui.tui.desk.history import OUTSIDE, History, Step
from judge_tui.tui.kept.documents import SCORECARD, Document

__all__ = ["Changes"]

D = TypeVar("D")


class Changes(Generic[D]):
    """What has been done to some documents, in the order in which it was done.

    Args:
        paths: File of each document; names its journal.
        found: What is on disk of each.
        document: What they are: scorecards, or something else in their place.
        same: Whether a judge says the same in two of them.
        kept: Of an index, what earlier runs could not save, the newest last, and the newest alone where told
            that changes are not kept over a restart: a step each, where the history has none of it.
        closed: Indices of those that cannot be changed: they have no history here.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        found: Sequence[D],
        document: Document[Any] = SCORECARD,
        same: Callable[[D, D], bool] | None = None,
        kept: Callable[[int, bool], Sequence[D]] = lambda _, __: (),
        closed: Collection[int] = (),
    ) -> None:
        self._history = History(paths, document, same, closed)
        # what is not shown has to be within reach of an undo at the next start, too
        taken = [kept(index, self._history.remembers(index)) for index in range(len(paths))]
        self._logs: list[EditLog[D]]
        self._logs, self._order, self._undone = self._history.take_up(found, taken)

    def __getitem__(self, index: int) -> D:
        """A document as it is now."""
        return self._logs[index].card

    def __len__(self) -> int:
        """How many changes can be undone."""
        return len(self._order)

    @property
    def redoable(self) -> bool:
        """Whether a change that was undone can be made again."""
        return bool(self._undone)

    @property
    def now(self) -> tuple[D, ...]:
        """Every document as it is now."""
        return tuple(log.card for log in self._logs)

    def make(self, index: int, label: str, after: D, *, merge: bool = False) -> bool:
        """Make a change; whether it changes anything.

        Args:
            index: Which document.
            label: What the change is called.
            after: The document after it.
            merge: Join it with the last change when that was the same to the same document.
        """
        before = self._logs[index]
        merge = merge and self._order[-1:] == [index]
        log = before.apply(label, after, merge=merge)
        if log is before:
            return False
        self._logs[index] = log
        grown = len(log.past) - len(before.past)
        if grown > 0:
            self._order.append(index)
        elif grown < 0 and self._order:
            self._order.pop()
        self._undone.clear()
        self._history.tell(index, Step("do", label, after, merge))
        return True

    def take_in(self, index: int, found: D) -> bool:
        """Take a document as it was found on disk: one change, where a judge says something else in it.

        What follows on such a change of the same document, with nothing between, is joined with it.

        Returns:
            Whether it is a change.
        """
        log = self._logs[index]
        if self._history.same(log.card, found):
            self._logs[index] = log.restated(found)
            return False
        # another window that types saves many times a minute
        return self.make(index, OUTSIDE, found, merge=True)

    def close_off(self, index: int, found: D) -> None:
        """Show a document that cannot be changed any more, as it was found; no undo leads into it."""
        self._logs[index] = EditLog(found)
        self._order = [one for one in self._order if one != index]
        self._undone = [one for one in self._undone if one != index]

    def seal(self) -> None:
        """End an editing: the next change of the same text is a step of its own."""
        for index, log in enumerate(self._logs):
            if (sealed := log.sealed()) is not log:
                self._logs[index] = sealed
                self._history.tell(index, Step("seal"))

    def undo(self) -> tuple[int, str] | None:
        """Take back the last change: which document's it was and what; ``None`` when there is none."""
        if not self._order:
            return None
        index = self._order.pop()
        if not self._logs[index].past:
            self._logs[index] = self._logs[index].preceded(self._history.older(index))
        label = self._logs[index].undo_label
        if label is None:
            # a change that turned out to be malformed
            return self.undo()
        self._logs[index] = self._logs[index].undo()
        self._history.tell(index, Step("undo"))
        self._undone.append(index)
        return index, label or "change"

    def redo(self) -> tuple[int, str] | None:
        """Bring the last undone change back: which document's it was and what, as of :meth:`undo`."""
        if not self._undone:
            return None
        index = self._undone.pop()
        label = self._logs[index].redo_label
        self._logs[index] = self._logs[index].redo()
        self._history.tell(index, Step("redo"))
        self._order.append(index)
        return index, label or "change"

    def close(self) -> None:
        """Write down what waits, and stop."""
        self._history.close()
