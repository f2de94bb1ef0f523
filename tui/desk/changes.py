"""Changes of documents that are open together: one order of undo across all, kept over a restart.

Undo takes back what was changed here. What another window or a program has written in between stays; where it
has changed the same, or nothing else is left, it is asked about (:meth:`Changes.foreign`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec.structs import replace

from judge_tui.judging.edits import Edit, EditLog
from judge_tui.tui.desk.history import OUTSIDE, History, Step, Turn
from judge_tui.tui.kept.documents import SCORECARD, Document

if TYPE_CHECKING:
    from judge_tui.judging.merging import Key, Parts, Side

__all__ = ["KEPT", "THEIRS", "Changes"]

D = TypeVar("D")
#: What undo calls the two steps of a choice: it leads from the one that was chosen to the other one.
THEIRS, KEPT = "as saved by the other window", "keep what is on this screen"


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
        self._taken_back = document.taken_back
        # what is not shown has to be within reach of an undo at the next start, too
        taken = [kept(index, self._history.remembers(index)) for index in range(len(paths))]
        self._logs: list[EditLog[D]]
        self._order: list[Turn]
        self._undone: list[Turn]
        self._logs, self._order, self._undone = self._history.take_up(found, taken)
        self._made_at = max((turn.at for turn in self._order), default=0.0)

    def __getitem__(self, index: int) -> D:
        """A document as it is now."""
        return self._logs[index].card

    def __len__(self) -> int:
        """How many changes can be undone."""
        return len(self._order)

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
        merge = merge and bool(self._order) and self._order[-1].which == index
        log = before.apply(label, after, merge=merge)
        if log is before:
            return False
        self._logs[index] = log
        at = self._history.tell(index, Step("do", label, after, merge))
        if label != OUTSIDE:
            self._made_at = at
        grown = len(log.past) - len(before.past)
        if grown > 0:
            self._order.append(Turn(at, index))
        elif grown < 0 and self._order:
            self._order.pop()
        self._undone.clear()
        return True

    def take_in(self, index: int, found: D) -> bool:
        """Take a document as it was found on disk: one change, where a judge says something else in it.

        What follows on such a change of the same document, with nothing between, is joined with it. What was
        undone can be made again, but for changes of what was found changed.

        Returns:
            Whether it is a change.
        """
        log, undone = self._logs[index], list(self._undone)
        if self._history.same(log.card, found):
            self._logs[index] = log.restated(found)
            return False
        self._logs[index] = replace(log, future=())
        # another window that types saves many times a minute
        made = self.make(index, OUTSIDE, found, merge=True)
        # a change of another document has made what was undone before it unreachable
        reachable = log.future[len(log.future) - sum(turn.which == index for turn in undone) :]
        self._undone = self._moved_over(index, reachable, undone)
        return made

    def choose(
        self, index: int, parts: Parts[D], chosen: Sequence[tuple[Key, Side]], ours: D, theirs: D
    ) -> None:
        """Decide what both sides have changed, a step each: undo leads to what was not chosen.

        Args:
            index: Which document; it says what is said here.
            parts: How it is taken apart.
            chosen: What is decided, and whose word counts.
            ours: What is said here.
            theirs: What was found.
        """
        for key, side in chosen:
            self.make(index, THEIRS, parts.put(self[index], key, parts.said(theirs, key)))
            if side == "ours":
                self.make(index, KEPT, parts.put(self[index], key, parts.said(ours, key)))

    def _moved_over(self, index: int, future: Sequence[Edit[D]], undone: list[Turn]) -> list[Turn]:
        """What was undone of a document that has been changed elsewhere, as changes of what it is now."""
        ahead: list[Edit[D]] = []
        card = self[index]
        for edit in reversed(future):
            # to make a change again is to take its undoing back
            after = self._taken_back(edit.after, edit.before, card)
            if after is None:
                break
            ahead.append(Edit(edit.label, card, after))
            card = after
        self._logs[index] = replace(self._logs[index], future=tuple(reversed(ahead)))
        for edit in ahead:
            self._history.tell(index, Step("do", edit.label, edit.after))
        for _ in ahead:
            self._history.tell(index, Step("undo"))
        for _ in range(len(future) - len(ahead)):
            # those that were undone first are made again last
            undone.remove(next(turn for turn in undone if turn.which == index))
        return undone

    def close_off(self, index: int, found: D) -> None:
        """Show a document that cannot be changed any more, as it was found; no undo leads into it."""
        self._logs[index] = EditLog(found)
        self._order = [turn for turn in self._order if turn.which != index]
        self._undone = [turn for turn in self._undone if turn.which != index]

    def seal(self) -> None:
        """End an editing: the next change of the same text is a step of its own."""
        for index, log in enumerate(self._logs):
            if (sealed := log.sealed()) is not log:
                self._logs[index] = sealed
                self._history.tell(index, Step("seal"))

    def undo(self) -> tuple[int, str] | None:
        """Take back the last change that was made here: which document's it was and what.

        ``None`` when there is none, or when what was written elsewhere stands in the way.
        """
        index, depth = self._last_own()
        if not depth or self.foreign() is not None:
            return None
        if depth == 1:
            return self._step_back(index)
        log = self._logs[index]
        own = log.past[-depth]
        self._logs[index] = log.sunk(depth, OUTSIDE, self._without(index, depth))
        undone_at = self._tell_sunk(index, depth, log, self._logs[index])
        own_at = [at for at, turn in enumerate(self._order) if turn.which == index][-depth:]
        # it, and those after it, have become one
        self._order = [turn for at, turn in enumerate(self._order) if at not in own_at[:-1]]
        self._undone.append(Turn(undone_at, index))
        return index, own.name or "change"

    def foreign(self) -> int | None:
        """Whose document was changed elsewhere so that undo cannot take back a change made here alone."""
        index, depth = self._last_own()
        if depth:
            return index if depth > 1 and self._without(index, depth) is None else None
        return self._order[-1].which if self._order else None

    @property
    def owns(self) -> bool:
        """Whether a change was made here and not taken back."""
        return self._last_own()[1] > 0

    # beside the changes of other documents

    @property
    def made_at(self) -> float:
        """When the last change was made here, taken back or not; 0 where none was."""
        return self._made_at

    @property
    def undoes_at(self) -> tuple[bool, float]:
        """Whether undo has a change that was made here, and when that, or the last one at all, was made."""
        index, depth = self._last_own()
        if depth:
            return True, [turn.at for turn in self._order if turn.which == index][-depth]
        return False, self._order[-1].at if self._order else 0.0

    @property
    def redoes_at(self) -> float:
        """When the change was undone that redo brings back; 0 where there is none."""
        return self._undone[-1].at if self._undone else 0.0

    def undo_foreign(self) -> tuple[int, str] | None:
        """Take back what was written elsewhere and stands in the way: which document's it was and what."""
        index = self.foreign()
        return None if index is None else self._step_back(index)

    def before_foreign(self, index: int) -> D:
        """A document as it was before it was written elsewhere the last time."""
        past = self._logs[index].past
        return past[-1].before if past else self._logs[index].card

    def _step_back(self, index: int) -> tuple[int, str]:
        """Take back the last change of a document."""
        name = self._logs[index].undo_label
        self._logs[index] = self._logs[index].undo()
        undone_at = self._history.tell(index, Step("undo"))
        self._order.pop(max(at for at, turn in enumerate(self._order) if turn.which == index))
        self._undone.append(Turn(undone_at, index))
        return index, name or "change"

    def _last_own(self) -> tuple[int, int]:
        """The document of the last change that was made here, and how many of its changes reach back to it.

        That is 0 where none was.
        """
        depths = {turn.which: 0 for turn in self._order}
        for at in reversed(range(len(self._order))):
            index = self._order[at].which
            depths[index] += 1
            edit = self._edit(index, depths[index])
            if edit is None:
                # a change that turned out to be malformed
                del self._order[at]
                depths[index] -= 1
            elif edit.name != OUTSIDE:
                return index, depths[index]
        return 0, 0

    def _edit(self, index: int, depth: int) -> Edit[D] | None:
        """A change of a document, 1 being the last one; older ones are read where they are asked for."""
        if len(self._logs[index].past) < depth:
            self._logs[index] = self._logs[index].preceded(self._history.older(index))
        past = self._logs[index].past
        return past[-depth] if len(past) >= depth else None

    def _without(self, index: int, depth: int) -> Any:
        """A document as it is without one of its changes; ``None`` where the same was changed since."""
        log = self._logs[index]
        return self._taken_back(log.past[-depth].before, log.past[-depth].after, log.card)

    def _tell_sunk(self, index: int, depth: int, before: EditLog[D], after: EditLog[D]) -> float:
        """Write down what leads from one log to the other; when that was."""
        steps = [Step("undo")] * depth
        steps.append(Step("do", OUTSIDE, after.card))
        steps += [Step("do", edit.label, edit.after) for edit in reversed(after.future)]
        steps += [Step("undo")] * len(after.future)
        return max(self._history.tell(index, step) for step in steps)

    def redo(self) -> tuple[int, str] | None:
        """Bring the last undone change back: which document's it was and what, as of :meth:`undo`."""
        if not self._undone:
            return None
        index = self._undone.pop().which
        label = self._logs[index].redo_label
        self._logs[index] = self._logs[index].redo()
        self._order.append(Turn(self._history.tell(index, Step("redo")), index))
        return index, label or "change"

    def close(self) -> None:
        """Write down what waits, and stop."""
        self._history.close()
