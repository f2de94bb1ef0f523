"""What a submission was asked and answered, to be asked of another version of it.

A request is replayed with the numbers and the memory that it came with, so that what a process keeps has the
same numbers again; what differs in the answers is what the version does otherwise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.answers import Answer, Answers
from judge_tui.checks.calling.connection import Connection
from judge_tui.checks.faults import Fault, Raised

__all__ = ["ANSWERS", "Asked", "Recorder", "other", "replied", "told_by"]

#: Operations whose replies are answers of the submission; what its objects look like inside is none.
ANSWERS = frozenset({"call", "fetch", "value", "load", "script"})
#: Relative to the greatest number of an answer: what rounding alone may do.
_ROUNDING = 1e-6
#: Bytes of arrays that one recording holds.
_MOST_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and what came of it.

    Attributes:
        body: The request.
        memory: What was in each memory that went with it.
        reply: The reply, or the name of what was raised.
        filled: What was in each memory afterwards.
        steady: Whether the reply is an answer, and the same when it is asked for again.
    """

    body: Mapping[str, Any]
    memory: tuple[bytes, ...]
    reply: Any = None
    filled: tuple[bytes, ...] = ()
    steady: bool = False


@dataclass(slots=True)
class Recorder:
    """Witness of a process's conversation; see :attr:`Connection.witness`.

    Attributes:
        check: Id of the check that asks.
        answers: Its answers, where it keeps them apart.
        asked: The requests, in their order, without what came of them.
        full: Whether there was more than it holds.
        parts: Of each request, the answer that it belongs to.
    """

    check: str = ""
    answers: Answers = field(default_factory=Answers)
    asked: list[Asked] = field(default_factory=list)
    full: bool = False
    parts: list[Answer | None] = field(default_factory=list)
    _bytes: int = 0

    @property
    def fine(self) -> list[bool | None]:
        """Of each request, whether the answer that it belongs to is right, where that is known."""
        return [part.fine if part is not None else None for part in self.parts]

    def __call__(self, body: Mapping[str, Any], fds: Sequence[int]) -> None:
        """Write a request down."""
        if self.full:
            return
        memory = tuple(map(_read, fds))
        self._bytes += sum(map(len, memory))
        if self._bytes > _MOST_BYTES:
            self.full = True
        elif body["op"] != "series":
            self.asked.append(Asked({**body, "memory": False} if "memory" in body else body, memory))
            self.parts.append(self.answers.open)


def _read(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def replied(worker: Connection, asked: Asked, *, budget: float) -> tuple[Any, tuple[bytes, ...]]:
    """Ask what was asked before; what is raised is an answer.

    Args:
        worker: Whom.
        asked: What.
        budget: Seconds that it may take.

    Returns:
        The reply, or the name of what was raised; and what is in each memory, where an answer comes so.
    """
    fds: list[int] = []
    try:
        for part in asked.memory:
            fds.append(fd := os.memfd_create("asked", os.MFD_CLOEXEC))
            os.pwrite(fd, part, 0)
        try:
            reply: Any = worker.again(asked.body, budget, fds)
        except Fault as fault:
            reply = fault.kind if isinstance(fault, Raised) else type(fault).__name__
        return reply, tuple(map(_read, fds)) if asked.body["op"] == "fetch" else ()
    finally:
        for fd in fds:
            os.close(fd)


def other(asked: Asked, reply: Any, filled: Sequence[bytes]) -> str:
    """What is another answer than before, in a few words; empty where it is the same but for rounding."""
    if isinstance(asked.reply, str) or isinstance(reply, str):
        return "" if asked.reply == reply else f"{_kind(reply)} in place of {_kind(asked.reply)}"
    if asked.body["op"] == "fetch":
        dtype = np.dtype(asked.body["dtype"])
        pairs = zip(asked.filled, filled, strict=True)
        told = [_numbers(np.frombuffer(a, dtype), np.frombuffer(b, dtype)) for a, b in pairs]
        return next(filter(None, told), "")
    return _plain(told_by(asked, asked.reply), told_by(asked, reply))


def told_by(asked: Asked, reply: Any) -> Any:
    """What of a reply is the submission's answer, as plain data; without times and what was printed."""
    key = {"value": "value", "call": "tree"}.get(asked.body["op"])
    return reply if isinstance(reply, str) else reply.get(key) if key else None


def _kind(reply: Any) -> str:
    return reply if isinstance(reply, str) else "an answer"


def _numbers(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> str:
    if before.dtype.kind != "f":
        return "" if np.array_equal(before, after) else "other integers"
    finite = before[np.isfinite(before)]
    size = float(np.max(np.abs(finite), initial=0.0)) or 1.0
    with np.errstate(all="ignore"):
        same = (np.abs(before - after) <= _ROUNDING * size) | (before == after)
    same |= np.isnan(before) & np.isnan(after)
    return "" if bool(np.all(same)) else f"{int(np.sum(~same))} of {same.size} numbers"


def _plain(before: Any, after: Any) -> str:
    """Where plain data differs: what is in it, not how it is stored."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = (before.keys() | after.keys()) - {"nbytes", "type", "params", "count"}
        return next(filter(None, (_plain(before.get(key), after.get(key)) for key in sorted(keys))), "")
    if isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            return f"{len(after)} in place of {len(before)}"
        return next(filter(None, map(_plain, before, after)), "")
    if isinstance(before, float) and isinstance(after, float):
        same = before == after or (math.isnan(before) and math.isnan(after))
        near = math.isclose(before, after, rel_tol=_ROUNDING, abs_tol=1e-12)
        return "" if same or near else f"{after} for {before}"
    return "" if before == after else f"{after!r} in place of {before!r}"[:80]
