"""Undo over a restart: every change of a card (or matchup) is written down in the user's state folder.

One journal per scorecard, as :mod:`judge_tui.tui.desk.journal` says. The scorecard itself is on disk without
this; whatever is wrong with a journal costs the history, never a card.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.edits import Edit, EditLog
from judge_tui.judging.note import Note
from judge_tui.tui.desk import journal
from judge_tui.tui.desk.journal import Replayed, Step
from judge_tui.tui.kept import rescue
from judge_tui.tui.kept.documents import SCORECARD, Document
from judge_tui.tui.kept.window_lock import WindowLock

__all__ = ["OUTSIDE", "History", "Step", "Turn"]

#: Changes that are parsed at once; older ones when undo comes to them.
_AT_ONCE = 10
#: A journal is written in fewer lines when so many bytes have come to it.
_GROWN = 1 << 20
#: What is typed goes into the journal in pieces of this many seconds.
_TYPING_S = 0.25
#: What undo calls a document that another window, or a program, has written.
OUTSIDE = "as it was found on disk"
_EARLIER = "unsaved work of an earlier run"
#: Seconds that are between steps which a start makes at once.
_TICK = 1e-6


class Turn(NamedTuple):
    """When a document was changed, or a change of it undone, and which document."""

    at: float
    which: int


class _Followed(Struct, frozen=True):
    """Where changes lead to, as text and parsed; which of them can be parsed, and those."""

    text: str
    card: Any
    numbers: tuple[int, ...]
    texts: tuple[Edit[str], ...]
    edits: tuple[Edit[Any], ...]


class History:
    """The journals of the cards that are open; one writer in the background.

    Args:
        paths: File of each card.
        document: What is written down: scorecards, or something else in their place.
        same: Whether a judge says the same in two of them; all but what is stamped on a card by default.
        closed: Indices of those that cannot be changed: their journals are neither read nor written.

    Attributes:
        same: That.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        document: Document[Any] = SCORECARD,
        same: Callable[[Any, Any], bool] | None = None,
        closed: Collection[int] = (),
    ) -> None:
        self._document = document
        self.same: Callable[[Any, Any], bool] = same or _same_words
        self._paths = list(paths)
        self._journals = [rescue.place(path, "history", ".jsonl") for path in paths]
        # another window that has a card open goes on with its journal; this one remembers for itself
        self._locks = [
            None if index in closed else _locked(journal) for index, journal in enumerate(self._journals)
        ]
        self._older: list[tuple[Edit[str], ...]] = [() for _ in paths]
        self._grown = [0 for _ in paths]
        #: When the last step was made, of all: a clock that is set back makes no step older than that.
        self._last = 0.0
        self._steps: queue.SimpleQueue[tuple[int, Step] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="history", daemon=True)
        self._thread.start()

    def take_up(
        self, cards: Sequence[Any], kept: Sequence[Sequence[Any]] = ()
    ) -> tuple[list[EditLog[Any]], list[Turn], list[Turn]]:
        """The logs of earlier runs, their cards being those that are on disk, or the newest that was kept.

        Args:
            cards: What is on disk.
            kept: Of each, what earlier runs could not save, the newest last: it becomes a step each.

        Returns:
            A log per card; the cards' changes in their order; the same of undone ones.
        """
        kept = kept or [() for _ in cards]
        read = [self._read(index) for index in range(len(cards))]
        self._last = max((step.at for steps, _ in read for step in steps), default=0.0)
        at = self._moment()
        replayed = [
            self._replay(index, one, kept[index], at, *read[index]) for index, one in enumerate(cards)
        ]
        self._last = max([self._last, *(one.done for one in replayed)])
        order = sorted(Turn(at, index) for index, one in enumerate(replayed) for at in one.past)
        # a change of any card forgets what was undone before it
        done = max((one.done for one in replayed), default=0.0)
        undone = sorted(
            Turn(at, index) for index, one in enumerate(replayed) for at in one.future if at >= done
        )
        return [one.log for one in replayed], order, undone

    def remembers(self, index: int) -> bool:
        """Whether the steps of a card are written down here, and not by another window, or by none."""
        return self._locks[index] is not None

    def tell(self, index: int, step: Step) -> float:
        """Write a step down, soon; when it was made, in seconds since the epoch."""
        at = self._moment()
        if self._locks[index] is not None:
            self._steps.put((index, replace(step, at=at)))
        return at

    def _moment(self) -> float:
        """Now, and never before the last step: their times tell in which order the steps of all were made."""
        self._last = max(time.time(), self._last + _TICK)
        return self._last

    def close(self) -> None:
        """Write what waits and stop."""
        self._steps.put(None)
        self._thread.join(5.0)
        for lock in self._locks:
            if lock is not None:
                lock.release()

    def older(self, index: int) -> tuple[Edit[Any], ...]:
        """Changes before those that a log was taken up with; none when there are no more."""
        edits = self._older[index]
        self._older[index], edits = edits[:-_AT_ONCE], edits[-_AT_ONCE:]
        if not edits:
            return ()
        first = edits[0].before
        return self._followed(index, first, self._parsed(index, first), edits).edits

    # reading

    def _read(self, index: int) -> tuple[list[Step], bool]:
        """The steps of a journal that is this window's, and whether that is all of it."""
        data = b""
        if self._locks[index] is not None:
            with suppress(OSError):
                data = self._journals[index].read_bytes()
        self._grown[index] = len(data)
        return journal.read(data)

    def _replay(
        self, index: int, card: Any, kept: Sequence[Any], at: float, steps: Sequence[Step], whole: bool
    ) -> Replayed:
        later = [Step("do", _EARLIER, one, at=at + _TICK * number) for number, one in enumerate(kept, 1)]
        if self._locks[index] is None:
            return self._stepped(Replayed(EditLog(card)), later)
        texts = journal.replayed(steps)
        if texts is None:
            opened = Replayed(EditLog(self._document.render(card)))
            self._rewrite(index, self._stepped(opened, map(self._written, later)))
            return self._stepped(Replayed(EditLog(card)), later)
        found, sound = self._understood(index, texts)
        if found is None:
            found = Replayed(EditLog(card))
        elif kept and self.same(found.log.card, kept[-1]):
            # a start before this one has made these steps: only what is not among them is one
            outside = Step("do", OUTSIDE, card, at=at)
            later = [one for one in (outside, *later[:-1]) if not self._among(index, found, one.card)]
            later += [Step("do", _EARLIER, kept[-1], at=at + _TICK * len(kept))] if later else []
            found = found if later else replace(found, log=found.log.restated(kept[-1]))
        elif self.same(found.log.card, card):
            found = replace(found, log=found.log.restated(card))
        else:
            later = [Step("do", OUTSIDE, card, at=at), *later]
        if not whole or later or sound is not texts or len(steps) > 2 * journal.KEPT:
            self._rewrite(index, self._stepped(sound, map(self._written, later)))
        return self._stepped(found, later)

    def _stepped(self, found: Replayed, steps: Iterable[Step]) -> Replayed:
        for step in steps:
            found = found.step(step)
        return found

    def _among(self, index: int, found: Replayed, card: Any) -> bool:
        """Whether undo leads to a card; of the older ones, which are texts, to just the same one."""
        past, older = found.log.past, self._older[index]
        if any(self.same(known, card) for edit in past for known in (edit.before, edit.after)):
            return True
        text = self._document.render(card)
        return any(text in (edit.before, edit.after) for edit in older)

    def _understood(self, index: int, texts: Replayed) -> tuple[Replayed | None, Replayed]:
        """The newest changes, parsed; and the texts without those that are malformed."""
        log, cut = texts.log, max(len(texts.log.past) - _AT_ONCE, 0)
        self._older[index], newest = log.past[:cut], log.past[cut:]
        text = newest[0].before if newest else log.card
        past = self._followed(index, text, self._parsed(index, text), newest)
        undone = self._followed(index, past.text, past.card, log.future[::-1])
        times = (*texts.past[:cut], *(texts.past[cut + number] for number in past.numbers))
        numbers = [len(log.future) - 1 - number for number in reversed(undone.numbers)]
        after = tuple(texts.future[number] for number in numbers)
        if past.card is None:
            return None, Replayed(EditLog(past.text))
        found = Replayed(EditLog(past.card, past.edits, undone.edits[::-1]), times, after, texts.done)
        if len(times) + len(after) == len(log.past) + len(log.future):
            return found, texts
        left = EditLog(past.text, (*self._older[index], *past.texts), undone.texts[::-1])
        return found, replace(found, log=left)

    def _followed(self, index: int, text: str, card: Any, edits: Sequence[Edit[str]]) -> _Followed:
        numbers, texts, found = [], [], []
        for number, edit in enumerate(edits):
            after = self._parsed(index, edit.after)
            if after is None:
                continue
            if card is not None:
                numbers.append(number)
                texts.append(Edit(edit.label, text, edit.after))
                found.append(Edit(edit.label, card, after))
            text, card = edit.after, after
        return _Followed(text, card, tuple(numbers), tuple(texts), tuple(found))

    def _parsed(self, index: int, text: str) -> Any:
        with suppress(ValueError, JudgeError, RecursionError):
            return self._document.parse(text.encode(), self._paths[index])
        return None

    # writing

    def _rewrite(self, index: int, texts: Replayed) -> None:
        self._replace(index, "".join(map(journal.line, journal.steps_of(texts))))

    def _replace(self, index: int, data: str) -> None:
        self._grown[index] = 0
        with suppress(OSError):
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
            with suppress(OSError, JudgeError):
                data = "".join(journal.line(self._written(step)) for step in known)
                with self._journals[index].open("a", encoding="utf-8") as file:
                    file.write(data)
                self._grown[index] += len(data)
                if self._grown[index] > _GROWN:
                    self._replace(index, journal.compacted(self._journals[index].read_bytes()))

    def _written(self, step: Step) -> Step:
        return step if step.card is None else replace(step, card=self._document.render(step.card))


def _same_words(one: Scorecard, other: Scorecard) -> bool:
    """Whether the judge says the same on both: all but what is stamped when a card is saved."""
    stamped = replace(
        one,
        notes=_same_notes(one, other),
        rubric=other.rubric,
        submission=other.submission,
        created=other.created,
        updated=other.updated,
        checks=other.checks,
        blind=other.blind,
    )
    return stamped == other


def _same_notes(one: Scorecard, other: Scorecard) -> tuple[Note, ...]:
    """The notes of a card, as they stand in another one that has the same: their lines are found out anew."""
    same = [note.unanchored for note in one.notes] == [note.unanchored for note in other.notes]
    return other.notes if same else one.notes


def _locked(journal: Path) -> WindowLock | None:
    """Hold a journal; ``None`` where another window does, or where nothing can be locked."""
    with suppress(BlockingIOError):
        return WindowLock.taken(journal)
    return None
