"""Scorecards and matchups go to disk behind the screen's back, each change within a fraction of a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging.scorecard import Conflict, FileStamp
from judge_tui.tui.desk.documents import SCORECARD, Document
from judge_tui.tui.desk.rescue import Rescue

__all__ = ["TYPING_S", "Autosave", "SaveReport"]

#: Text that is being typed is at most this far behind.
TYPING_S = 0.25


@dataclass(frozen=True, slots=True)
class SaveReport:
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


class Autosave:
    """One thread that writes the newest state of each card.

    Args:
        paths: File of each card.
        stamps: What was on disk when each was read.
        report: Called in the writing thread after each attempt.
        rescues: Where each card is kept when it cannot be saved; closed with this.
        document: What is written: scorecards, or something else in their place.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        stamps: Sequence[FileStamp | None],
        report: Callable[[SaveReport], None],
        rescues: Sequence[Rescue] = (),
        document: Document[Any] = SCORECARD,
    ) -> None:
        self._document = document
        self._paths = list(paths)
        self._stamps = list(stamps)
        self._report = report
        self._rescues = list(rescues) or [Rescue(path, document) for path in paths]
        self._lost: set[int] = set()
        self._waiting: dict[int, tuple[float, Any]] = {}
        self._blocked: dict[int, Any] = {}
        self._writing: int | None = None
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
            self._waiting[index] = (due, card)
            self._changed.notify_all()

    def resolve(self, index: int, stamp: FileStamp | None) -> None:
        """Go on after a conflict: ``stamp`` is what is now known to be on disk."""
        with self._changed:
            self._stamps[index] = stamp
            self._blocked.pop(index, None)

    def unsaved(self) -> tuple[int, ...]:
        """Cards whose newest state is not on disk."""
        with self._changed:
            writing = () if self._writing is None else (self._writing,)
            return tuple(sorted({*self._waiting, *self._blocked, *writing}))

    def lost(self) -> tuple[int, ...]:
        """Cards whose newest state is neither saved nor kept in the state folder."""
        return tuple(sorted(self._lost))

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Write what waits, now; whether all of it was attempted in time."""
        with self._changed:
            self._waiting = {index: (0.0, card) for index, (_, card) in self._waiting.items()}
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._waiting and self._writing is None, timeout_s)

    def close(self) -> None:
        """Write what waits and stop."""
        self.flush()
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(5.0)
        for rescue in self._rescues:
            rescue.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                index, card = self._next()
                if card is None:
                    return
                self._writing = index
            try:
                report = self._write(index, card)
            finally:
                with self._changed:
                    self._writing = None
                    self._changed.notify_all()
            # who is told may be gone already
            with suppress(Exception):
                self._report(report)

    def _next(self) -> tuple[int, Any]:
        """Wait for a card that is due and take it; ``None`` when closing."""
        while not self._closing:
            now = time.monotonic()
            due = min(((at, index) for index, (at, _) in self._waiting.items()), default=None)
            if due is not None and due[0] <= now:
                return due[1], self._waiting.pop(due[1])[1]
            self._changed.wait(None if due is None else due[0] - now)
        return 0, None

    def _write(self, index: int, card: Any) -> SaveReport:
        path = self._paths[index]
        with self._changed:
            stamp = self._stamps[index]
        try:
            new = self._document.save(path, card, stamp)
        except Exception as error:  # whatever it is: this thread dies of nothing, and says what is not saved
            state: Literal["conflict", "failed"] = "conflict" if isinstance(error, Conflict) else "failed"
            with self._changed:
                self._blocked[index] = card
            kept = self._rescues[index].keep(card, stamp)
            if kept:
                self._lost.discard(index)
            else:
                self._lost.add(index)
            told = _sentence(path, error) + (f" Your work is kept in {kept}." if kept else "")
            return SaveReport(index, state, told, time.time())
        with self._changed:
            self._stamps[index] = new
            self._blocked.pop(index, None)
        self._lost.discard(index)
        self._rescues[index].drop()
        return SaveReport(index, "saved", "", time.time())


def _sentence(path: Path, error: Exception) -> str:
    if isinstance(error, JudgeError | OSError):
        return str(error)
    return str(WorkspaceError(f"cannot be saved ({type(error).__name__}: {error}).", file=path))
