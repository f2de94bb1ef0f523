"""Scorecards and matchups go to disk behind the screen's back, each change within a fraction of a second."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging.scorecard import Conflict, FileStamp
from judge_tui.tui.kept.documents import SCORECARD, Document
from judge_tui.tui.kept.rescue import Rescue

__all__ = ["TYPING_S", "Autosave", "SaveReport"]

#: Text that is being typed is at most this far behind.
TYPING_S = 0.25
#: Seconds that a slow disk is given when the judge leaves.
_PATIENCE_S = 5.0
#: Seconds until what could not be saved is tried again: a disk that was full, or away, may have come back.
_AGAIN_S = 5.0


class SaveReport(Struct, frozen=True):
    """How a save went.

    Attributes:
        index: Which submission's card.
        state: ``saved``; ``conflict``, when another program has written the file; ``failed``.
        message: One sentence, empty when saved.
        at: Wall clock, seconds since the epoch.
    """

    index: int
    state: Literal["saved", "conflict", "failed"]
    message: str = ""
    at: float = 0.0


class _Change(Struct, frozen=True):
    """A state of a card that is to be written.

    Attributes:
        index: Whose card.
        number: Rises with every change.
        card: The card.
    """

    index: int
    number: int
    card: Any


class Autosave:
    """One thread that writes the newest state of each card.

    Args:
        paths: File of each card.
        stamps: What was on disk when each was read.
        report: Called in the writing thread after each attempt.
        rescues: Where each card is kept when it cannot be saved; closed with this.
        document: What is written: scorecards, or something else in their place.
        found: What was read of each; ``None`` where what is saved was begun on something else.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        stamps: Sequence[FileStamp | None],
        report: Callable[[SaveReport], None],
        rescues: Sequence[Rescue] = (),
        document: Document[Any] = SCORECARD,
        found: Sequence[Any] = (),
    ) -> None:
        self._document = document
        self._paths = list(paths)
        self._stamps = list(stamps)
        self._found: list[Any] = list(found) or [None for _ in paths]
        self._report = report
        self._rescues = list(rescues) or [Rescue(path, document) for path in paths]
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[float, _Change]] = {}
        self._blocked: dict[int, _Change] = {}
        #: Of those the ones that are in conflict with nobody, and when each is tried again.
        self._again: dict[int, float] = {}
        self._writing: _Change | None = None
        #: The newest change of each card that was to be kept in the state folder, and where it is, if it is.
        self._kept: dict[int, tuple[int, Path | None]] = {}
        self._keeping = threading.Lock()
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="autosave", daemon=True)
        self._thread.start()

    def submit(self, index: int, card: Any, *, typing: bool = False) -> None:
        """Have a card written: at once, or soon while its text is being typed."""
        with self._changed:
            due = time.monotonic() + (TYPING_S if typing else 0.0)
            if index in self._waiting:
                # a stream of keystrokes must not put the save off for ever
                due = min(due, self._waiting[index][0])
            self._waiting[index] = (due, _Change(index, next(self._numbers), card))
            self._changed.notify_all()

    def stamp(self, index: int) -> FileStamp | None:
        """What is believed to be on disk of a card; ``None`` for nothing."""
        with self._changed:
            return self._stamps[index]

    def found(self, index: int) -> Any:
        """What a card said on disk when it was last read or written there; ``None`` where nobody knows."""
        with self._changed:
            return self._found[index]

    def resolve(self, index: int, stamp: FileStamp | None, found: Any = None) -> None:
        """Go on after a conflict: ``found`` is now known to be on disk, and ``stamp`` is of that."""
        with self._changed:
            self._stamps[index], self._found[index] = stamp, found
            self._unblock(index)

    def unsaved(self) -> tuple[int, ...]:
        """Cards whose newest state is not on disk."""
        with self._changed:
            return tuple(sorted(self._unsaved()))

    def _unsaved(self) -> dict[int, _Change]:
        writing = {} if self._writing is None else {self._writing.index: self._writing}
        # of one card, what waits is newer than what is being written
        return self._blocked | writing | {index: change for index, (_, change) in self._waiting.items()}

    def lost(self) -> tuple[int, ...]:
        """Cards whose newest state could neither be saved nor be kept in the state folder."""
        return tuple(sorted(index for index, (_, place) in list(self._kept.items()) if place is None))

    def flush(self, timeout_s: float | None = None) -> bool:
        """Write what waits, now; whether all of it was attempted in time. What was not is kept."""
        with self._changed:
            self._waiting = {index: (0.0, change) for index, (_, change) in self._waiting.items()}
            self._changed.notify_all()
            patience = _PATIENCE_S if timeout_s is None else timeout_s
            done = self._changed.wait_for(lambda: not self._waiting and self._writing is None, patience)
        if not done:
            self._keep_all()
        return done

    def close(self) -> None:
        """Write what waits, or keep it where the disk does not take it, and stop."""
        with self._changed:
            again = self._again.keys() - self._waiting.keys() if not self._closing else ()
            self._waiting |= {index: (0.0, self._blocked[index]) for index in again}
        self.flush()
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(_PATIENCE_S)
        self._keep_all()
        with self._keeping:
            for rescue in self._rescues:
                rescue.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                change = self._next()
                if change is None:
                    return
                self._writing = change
            try:
                report = self._write(change)
            finally:
                with self._changed:
                    self._writing = None
                    self._changed.notify_all()
            # who is told may be gone already
            with suppress(Exception):
                if report is not None:
                    self._report(report)

    def _next(self) -> _Change | None:
        """Wait for a card that is due and take it; ``None`` when closing."""
        while not self._closing:
            now = time.monotonic()
            times = self._again | {index: at for index, (at, _) in self._waiting.items()}
            due = min(((at, index) for index, at in times.items()), default=None)
            if due is not None and due[0] <= now:
                self._again.pop(due[1], None)
                return self._waiting.pop(due[1])[1] if due[1] in self._waiting else self._blocked[due[1]]
            self._changed.wait(None if due is None else due[0] - now)
        return None

    def _write(self, change: _Change) -> SaveReport | None:
        """Write a change; how that went, but for one that has failed before and does so again."""
        index, path = change.index, self._paths[change.index]
        with self._changed:
            stamp, found = self._stamps[index], self._found[index]
        try:
            new = self._document.save(path, change.card, stamp)
        except Exception as error:  # whatever it is: this thread dies of nothing, and says what is not saved
            state: Literal["conflict", "failed"] = "conflict" if isinstance(error, Conflict) else "failed"
            with self._changed:
                known = self._blocked.get(index) is change
                self._blocked[index] = change
                if state == "failed":
                    self._again[index] = time.monotonic() + _AGAIN_S
            kept = self._keep(change, stamp, found)
            told = _sentence(path, error) + (f" Your work is kept in {kept}." if kept else "")
            return None if known and state == "failed" else SaveReport(index, state, told, time.time())
        with self._changed:
            self._stamps[index], self._found[index] = new, change.card
            self._unblock(index)
        self._forget(change)
        return SaveReport(index, "saved", "", time.time())

    def _unblock(self, index: int) -> None:
        self._blocked.pop(index, None)
        self._again.pop(index, None)

    # the state folder

    def _keep(self, change: _Change, stamp: FileStamp | None, found: Any) -> Path | None:
        """Keep a change, where a newer one is not kept already; the place of what is kept, if anything is."""
        with self._keeping:
            number, place = self._kept.get(change.index, (0, None))
            if number < change.number or (number == change.number and place is None):
                place = self._rescues[change.index].keep(change.card, stamp, found)
                self._kept[change.index] = (change.number, place)
            return place

    def _keep_all(self) -> None:
        """Keep what is not on disk: the program may end before it is."""
        with self._changed:
            unsaved, stamps, found = self._unsaved(), list(self._stamps), list(self._found)
        for change in unsaved.values():
            self._keep(change, stamps[change.index], found[change.index])

    def _forget(self, change: _Change) -> None:
        """A change is on disk: what was kept of it, or before it, is needed no more."""
        with self._keeping:
            number, _ = self._kept.get(change.index, (0, None))
            if number <= change.number:
                self._kept.pop(change.index, None)
                self._rescues[change.index].drop()


def _sentence(path: Path, error: Exception) -> str:
    if isinstance(error, JudgeError | OSError):
        return str(error)
    return str(WorkspaceError(f"cannot be saved ({type(error).__name__}: {error}).", file=path))
