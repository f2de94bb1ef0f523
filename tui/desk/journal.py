"""What is written down of the changes of a document: a line per step, the document as the text of its file.

Reading a journal is doing it all again, on texts alone: they are parsed where somebody wants to see them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from judge_tui.judging.edits import EditLog

__all__ = ["KEPT", "Replayed", "Step", "compacted", "line", "read", "replayed", "steps_of"]

#: Steps that a journal is cut back to once it has grown to twice as many.
KEPT = 200
_OPS = ("open", "do", "undo", "redo", "seal")
#: No step was made so many seconds after the epoch.
_END_OF_TIME = 1e11


class Step(Struct, frozen=True):
    """What the log of a card was told.

    Attributes:
        op: ``open`` a card, ``do``, ``undo``, ``redo`` or ``seal``.
        label: Name of a change.
        card: The card that is opened, or after the change; in a journal its text.
        merge: Whether the change was joined with the one before it.
        at: Seconds since the epoch.
    """

    op: str
    label: str = ""
    card: Any = None
    merge: bool = False
    at: float = 0.0


class Replayed(Struct, frozen=True):
    """A log, when each of its changes was made or undone, and when the last one was made."""

    log: EditLog[Any]
    past: tuple[float, ...] = ()
    future: tuple[float, ...] = ()
    done: float = 0.0

    def step(self, step: Step) -> Replayed:
        """What is so after one more step."""
        log = _told(self.log, step)
        grown = len(log.past) - len(self.log.past)
        if step.op == "undo" and grown:
            return Replayed(log, self.past[:-1], (*self.future, step.at), self.done)
        if step.op == "redo" and grown:
            return Replayed(log, (*self.past, step.at), self.future[:-1], self.done)
        past = (*self.past, step.at) if grown > 0 else self.past[: len(log.past)]
        done = step.at if step.op == "do" else self.done
        return Replayed(log, past, self.future if log.future else (), done)


def _told(log: EditLog[Any], step: Step) -> EditLog[Any]:
    if step.op == "undo":
        return log.undo()
    if step.op == "redo":
        return log.redo()
    if step.op == "seal":
        return log.sealed()
    return log if step.card is None else log.apply(step.label, step.card, merge=step.merge)


def replayed(steps: Iterable[Step]) -> Replayed | None:
    """What steps lead to; ``None`` where they open nothing."""
    found: Replayed | None = None
    for step in steps:
        if step.op == "open" and step.card is not None:
            found = Replayed(EditLog(step.card))
        elif found is not None:
            found = found.step(step)
    return found


def steps_of(found: Replayed) -> list[Step]:
    """The fewest steps that lead to a log; one that has grown long loses its beginning."""
    log, times = found.log, found.past
    past: Sequence[Any] = log.past
    if len(past) + len(log.future) > 2 * KEPT:
        past, times = past[-KEPT:], times[-KEPT:]
    steps = [Step("open", card=past[0].before if past else log.card, at=times[0] if times else 0.0)]
    steps += [Step("do", edit.label, edit.after, at=at) for edit, at in zip(past, times, strict=True)]
    undone = list(zip(log.future, found.future, strict=True))
    steps += [Step("do", edit.label, edit.after, at=found.done) for edit, _ in reversed(undone)]
    if not undone and times and found.done > times[-1]:
        # changes nothing: says when the last one was still typed
        steps.append(Step("do", card=log.card, at=found.done))
    return [*steps, *(Step("undo", at=at) for _, at in undone)]


def compacted(data: bytes) -> str:
    """A journal that leads to the same in the fewest lines."""
    found = replayed(read(data)[0])
    return "" if found is None else "".join(map(line, steps_of(found)))


def read(data: bytes) -> tuple[list[Step], bool]:
    """The steps that can be read; whether that is all of the journal, which ends with a whole line."""
    *lines, rest = data.split(b"\n")
    steps: list[Step] = []
    for one in (*lines, rest) if rest else lines:
        # a line that was cut off, or is of another version, costs itself alone: cards are whole
        with suppress(ValueError, RecursionError):
            steps.append(_step(json.loads(one.decode())))
    return steps, not rest and len(steps) == len(lines)


def _step(raw: Any) -> Step:
    """A line of a journal as a step.

    Raises:
        ValueError: It is none.
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
    return Step(op, label, card, merge, at)


def line(step: Step) -> str:
    """A step as a line."""
    raw: dict[str, Any] = {"op": step.op, "at": step.at}
    raw |= {"label": step.label} if step.label else {}
    raw |= {"merge": True} if step.merge else {}
    raw |= {"card": step.card} if step.card is not None else {}
    return json.dumps(raw) + "\n"
