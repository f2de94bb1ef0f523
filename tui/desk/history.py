"""Undo over a restart: every change of a card (or matchup) is written down in the user's state folder.

One journal per scorecard, a line per step. A step is what :class:`~judge_tui.judging.edits.EditLog` was
told, so that reading a journal is doing it all again. The scorecard itself is on disk without this;
whatever is wrong with a journal costs the history, never a card.
"""

from __future__ import annotations

import fcntl
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.edits import EditLog
from judge_tui.tui.desk import rescue
from judge_tui.tui.desk.documents import SCORECARD, Document

__all__ = ["History", "Step"]

#: Steps that a journal is cut back to once it has grown to twice as many.
_KEPT = 200
#: What is typed goes into the journal in pieces of this many seconds.
_TYPING_S = 0.25
_OUTSIDE = "as it was found on disk"
_OPS = ("open", "do", "undo", "redo", "seal")
#: No step was made so many seconds after the epoch.
_END_OF_TIME = 1e11


@dataclass(frozen=True, slots=True)
class Step:
    """What the log of a card was told.

    Attributes:
        op: ``open`` a card, ``do``, ``undo``, ``redo`` or ``seal``.
        label: Name of a change.
        card: The card that is opened, or after the change.
        merge: Whether the change was joined with the one before it.
        at: Seconds since the epoch.
    """

    op: str
    label: str = ""
    card: Any = None
    merge: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class _Replayed:
    """A log, when each of its changes was made or undone, and when the last one was made."""

    log: EditLog[Any]
    past: tuple[float, ...] = ()
    future: tuple[float, ...] = ()
    done: float = 0.0

    def step(self, step: Step) -> _Replayed:
        log = told(self.log, step)
        grown = len(log.past) - len(self.log.past)
        if step.op == "undo" and grown:
            return _Replayed(log, self.past[:-1], (*self.future, step.at), self.done)
        if step.op == "redo" and grown:
            return _Replayed(log, (*self.past, step.at), self.future[:-1], self.done)
        past = (*self.past, step.at) if grown > 0 else self.past[: len(log.past)]
        done = step.at if step.op == "do" else self.done
        return _Replayed(log, past, self.future if log.future else (), done)


class History:
    """The journals of the cards that are open; one writer in the background.

    Args:
        paths: File of each card.
        document: What is written down: scorecards, or something else in their place.
        same: Whether a judge says the same in two of them.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        document: Document[Any] = SCORECARD,
        same: Callable[[Any, Any], bool] | None = None,
    ) -> None:
        self._document, self._same = document, same or _same_words
        self._paths = list(paths)
        self._journals = [rescue.place(path, "history", ".jsonl") for path in paths]
        # another window that has a card open goes on with its journal; this one remembers for itself
        self._locks = [_locked(journal) for journal in self._journals]
        self._steps: queue.SimpleQueue[tuple[int, Step] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="history", daemon=True)
        self._thread.start()

    def take_up(self, cards: Sequence[Any]) -> tuple[list[EditLog[Any]], list[int], list[int]]:
        """The logs of earlier runs, their cards being those that are on disk.

        Args:
            cards: What is on disk.

        Returns:
            A log per card; the cards' indices in the order of their changes; the same of undone ones.
        """
        replayed = [self._replay(index, card) for index, card in enumerate(cards)]
        order = sorted((at, index) for index, one in enumerate(replayed) for at in one.past)
        # a change of any card forgets what was undone before it
        done = max((one.done for one in replayed), default=0.0)
        undone = sorted((at, index) for index, one in enumerate(replayed) for at in one.future if at >= done)
        return [one.log for one in replayed], [index for _, index in order], [index for _, index in undone]

    def tell(self, index: int, step: Step) -> None:
        """Write a step down, soon."""
        if self._locks[index] is not None:
            self._steps.put((index, replace(step, at=time.time())))

    def close(self) -> None:
        """Write what waits and stop."""
        self._steps.put(None)
        self._thread.join(5.0)
        for lock in self._locks:
            if lock is not None:
                with suppress(OSError):
                    os.close(lock)

    # reading

    def _replay(self, index: int, card: Any) -> _Replayed:
        if self._locks[index] is None:
            return _Replayed(EditLog(card))
        steps, whole = self._read(index)
        found: _Replayed | None = None
        for step in steps:
            if step.op == "open" and step.card is not None:
                found = _Replayed(EditLog(step.card))
            elif found is not None:
                found = found.step(step)
        known = found is not None and self._same(found.log.card, card)
        taken = _Replayed(EditLog(card)) if found is None else self._joined(found, card)
        if not (known and whole) or len(steps) > 2 * _KEPT:
            self._rewrite(index, taken)
        return taken

    def _joined(self, found: _Replayed, card: Any) -> _Replayed:
        if self._same(found.log.card, card):
            return replace(found, log=found.log.restated(card))
        return found.step(Step("do", _OUTSIDE, card, at=time.time()))

    def _read(self, index: int) -> tuple[list[Step], bool]:
        """The steps that can be read; whether that is all of the journal, which ends with a whole line."""
        try:
            *lines, rest = self._journals[index].read_bytes().split(b"\n")
        except OSError:
            return [], False
        steps: list[Step] = []
        for line in (*lines, rest) if rest else lines:
            # a line that was cut off, or is of another version, costs itself alone: cards are whole
            with suppress(ValueError, JudgeError, RecursionError):
                steps.append(self._step(json.loads(line.decode()), self._paths[index]))
        return steps, not rest and len(steps) == len(lines)

    # writing

    def _rewrite(self, index: int, found: _Replayed) -> None:
        log = found.log
        past, times = log.past[-_KEPT:], found.past[-_KEPT:]
        steps = [Step("open", card=past[0].before if past else log.card, at=times[0] if times else 0.0)]
        steps += [Step("do", edit.label, edit.after, at=at) for edit, at in zip(past, times, strict=True)]
        undone = list(zip(log.future, found.future, strict=True))
        steps += [Step("do", edit.label, edit.after, at=at) for edit, at in reversed(undone)]
        steps += [Step("undo", at=at) for _, at in undone]
        with suppress(OSError, JudgeError):
            data = "".join(map(self._line, steps))
            temporary = self._journals[index].with_suffix(".tmp")
            temporary.write_text(data, "utf-8")
            os.replace(temporary, self._journals[index])

    def _work(self) -> None:
        while True:
            first = self._steps.get()
            if first is None:
                return
            if first[1].merge:
                time.sleep(_TYPING_S)
            waiting, ended = [first], False
            with suppress(queue.Empty):
                while not ended:
                    following = self._steps.get_nowait()
                    if following is None:
                        ended = True
                    else:
                        waiting.append(following)
            self._append(waiting)
            if ended:
                return

    def _append(self, steps: Iterable[tuple[int, Step]]) -> None:
        lines: dict[int, list[Step]] = {}
        for index, step in steps:
            known = lines.setdefault(index, [])
            if step.merge and known and known[-1].merge and known[-1].label == step.label:
                known.pop()
            known.append(step)
        for index, known in lines.items():
            with suppress(OSError, JudgeError), self._journals[index].open("a", encoding="utf-8") as file:
                file.write("".join(map(self._line, known)))

    def _line(self, step: Step) -> str:
        raw: dict[str, Any] = {"op": step.op, "at": step.at}
        raw |= {"label": step.label} if step.label else {}
        raw |= {"merge": True} if step.merge else {}
        raw |= {"card": self._document.render(step.card)} if step.card is not None else {}
        return json.dumps(raw) + "\n"

    def _step(self, raw: Any, path: Path) -> Step:
        """A line of a journal as a step.

        Raises:
            ValueError: It is none.
            JudgeError: Its card is malformed.
        """
        raw = {"label": "", "card": None, "merge": False} | (raw if isinstance(raw, dict) else {})
        op, label, card, merge, at = (raw.get(name) for name in ("op", "label", "card", "merge", "at"))
        if not (
            op in _OPS
            and isinstance(label, str)
            and isinstance(card, str | None)
            and isinstance(merge, bool)
            and isinstance(at, int | float)
            and 0 <= at < _END_OF_TIME
        ):
            raise ValueError
        return Step(op, label, None if card is None else self._document.parse(card.encode(), path), merge, at)


def told(log: EditLog[Any], step: Step) -> EditLog[Any]:
    """A log after a step."""
    if step.op == "undo":
        return log.undo()
    if step.op == "redo":
        return log.redo()
    if step.op == "seal":
        return log.sealed()
    return log if step.card is None else log.apply(step.label, step.card, merge=step.merge)


def _same_words(one: Scorecard, other: Scorecard) -> bool:
    """Whether the judge says the same on both: all but what is stamped when a card is saved."""
    stamped = {
        "rubric": other.rubric,
        "submission": other.submission,
        "created": other.created,
        "updated": other.updated,
        "checks": other.checks,
        "blind": other.blind,
    }
    return replace(one, **stamped) == other


def _locked(journal: Path) -> int | None:
    """Hold a journal; ``None`` where another window does, or where nothing can be written."""
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(journal.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
