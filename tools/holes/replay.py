"""What a right submission was asked and answered, to be asked of others: the fuzz that says what is alike.

The checks themselves ask, but under seeds that no verdict comes from, with sizes from wider ranges, and, in a
second round, with other numbers in every array. What they make of the answers does not matter here: two
submissions are alike as far as this fuzz sees where their answers to all of it are equal.
"""

from __future__ import annotations

import ast
import contextlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.connection import Connection
from judge_tui.checks.calling.remote import Target, Worker
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.one_check import run_check
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

__all__ = ["SEEN", "Recording", "counting", "recorded"]

#: Under what name a file that counts keeps the numbers of its lines that ran.
SEEN = "_lines_that_ran"

#: Operations whose replies are answers of the submission; what its objects look like inside is none.
_ANSWERS = frozenset({"call", "fetch", "value", "load", "script"})
#: Relative to the greatest number of an answer: what rounding alone may do.
_ROUNDING = 1e-6
#: Seconds of one request: what takes longer is left out of the fuzz.
_LONGEST = 0.4
#: Seconds that an edited one may take for a request.
_PATIENCE = 10.0
_ARRAY = "$a"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request and what came of it.

    Attributes:
        body: The request.
        memory: What was in each memory that went with it.
        reply: The reply, or the name of what was raised.
        filled: What was in each memory afterwards.
        steady: Whether the right submission answers the same again.
    """

    body: Mapping[str, Any]
    memory: tuple[bytes, ...]
    reply: Any = None
    filled: tuple[bytes, ...] = ()
    steady: bool = False


@dataclass(slots=True)
class Recording:
    """What a right submission was asked, process by process.

    Attributes:
        rounds: The requests to each process, in their order.
    """

    rounds: list[list[_Asked]] = field(default_factory=list)

    def difference(self, submission: Submission) -> str:
        """The first answer of a submission that is another one; empty where all are equal."""
        for asked in self.rounds:
            if told := _difference(submission, asked):
                return told
        return ""

    def answered(self, submission: Submission) -> Recording:
        """The same requests with what a right submission answers to them, where it does so twice."""
        made = []
        for asked in self.rounds:
            first, second = _answers(submission, asked), _answers(submission, asked)
            made.append([
                replace(one, reply=reply, filled=filled, steady=one.body["op"] in _ANSWERS and not told)
                for one, (reply, filled), again in zip(asked, first, second, strict=False)
                for told in [_other(replace(one, reply=reply, filled=filled), *again)]
            ])  # fmt: skip
        return Recording(made)

    def with_other_numbers(self, scale: float, grain: float) -> Recording:
        """The same requests with floating point numbers scaled and rounded, which makes some of them equal.

        Args:
            scale: Factor of every number.
            grain: They are rounded to multiples of this.
        """
        return Recording([
            [replace(one, memory=_scaled(one, scale, grain)) for one in asked] for asked in self.rounds
        ])  # fmt: skip

    def lines(self, submission: Submission, file: str) -> frozenset[int]:
        """The lines of a file that run, where it has been made to :func:`count <counting>` them."""
        seen: set[int] = set()
        for asked in self.rounds:
            with contextlib.suppress(JudgeError, Fault), Worker(submission) as worker:
                for one in asked:
                    _replied(worker, one.body, one.memory)
                seen |= set(worker.value(worker.call(Target(file, SEEN), method="copy").handle))
        return frozenset(seen)


def counting(source: str) -> str:
    """The same source, which keeps the numbers of its lines that run under the name :data:`SEEN`.

    A file's own line numbers are those of the source; nothing else of it changes.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                setattr(node, name, [part for one in body for part in _counted(one, first=one is body[0])])
    at = next((i for i, one in enumerate(tree.body) if not _stays_first(one)), len(tree.body))
    tree.body.insert(at, ast.parse(f"{SEEN} = []").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def _stays_first(node: ast.stmt) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _counted(node: ast.stmt, *, first: bool) -> list[ast.stmt]:
    if (first and _stays_first(node)) or _stays_first(node):
        return [node]
    return [*ast.parse(f"{SEEN}.append({node.lineno}) if {node.lineno} not in {SEEN} else None").body, node]


def recorded(task: Task, submission: Submission, seed: int, checks: Sequence[str]) -> Recording:
    """Record what checks ask of a right submission.

    Args:
        task: Its task.
        submission: It.
        seed: Of the inputs; verdicts come from others.
        checks: Ids of the checks that ask.
    """
    bench = Bench(submission, task.contract, seed=seed)
    try:
        with contextlib.suppress(JudgeError, Fault):
            _ = bench.bindings
        bench.close()
        with _recording() as rounds, patch.object(Sizes, "between", _wider):
            for check in checks:
                run_check(task, task.by_id[check], bench)
    finally:
        bench.close()
    return Recording([each for each in rounds if any(one.body["op"] in ("call", "script") for one in each)])


_between = Sizes.between


def _wider(self: Sizes, least: int, most: int) -> int:
    return _between(self, least, most + (most - least) // 3)


@contextlib.contextmanager
def _recording() -> Iterator[list[list[_Asked]]]:
    """Write down what every worker is asked meanwhile, but for what takes long."""
    rounds: dict[int, list[_Asked]] = {}
    listed: list[list[_Asked]] = []
    kept: list[Connection] = []
    request = Connection._request  # noqa: SLF001 - all requests go through it

    def asked(
        self: Connection, body: Mapping[str, Any], budget: float, fds: Sequence[int] = ()
    ) -> dict[str, Any]:
        memory = tuple(_read(fd) for fd in fds)
        try:
            return request(self, body, budget, fds)
        finally:
            if id(self) not in rounds:
                kept.append(self)  # so that none that starts later is taken for it
            each = rounds.setdefault(id(self), [])
            if body["op"] != "series" and (self.took < _LONGEST or body["op"] == "load"):
                each.append(_Asked({**body, "memory": False} if "memory" in body else body, memory))

    with patch.object(Connection, "_request", asked):
        yield listed
    listed += rounds.values()


def _named(fault: Fault) -> str:
    return fault.kind if isinstance(fault, Raised) else type(fault).__name__


def _read(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def _replied(
    worker: Worker, body: Mapping[str, Any], memory: Sequence[bytes]
) -> tuple[Any, tuple[bytes, ...]]:
    """Ask what was asked before; what is raised is an answer.

    Raises:
        Died: The process is gone.
    """
    fds = []
    try:
        for part in memory:
            fds.append(fd := os.memfd_create("asked", os.MFD_CLOEXEC))
            os.pwrite(fd, part, 0)
        try:
            reply: Any = Connection._request(worker, body, _PATIENCE, fds)  # noqa: SLF001 - as recorded
        except Fault as fault:
            reply = _named(fault)
        return reply, tuple(map(_read, fds)) if body["op"] == "fetch" else ()
    finally:
        for fd in fds:
            os.close(fd)


def _answers(submission: Submission, asked: Sequence[_Asked]) -> list[tuple[Any, tuple[bytes, ...]]]:
    """What a submission answers, until it ends."""
    found = []
    with contextlib.suppress(JudgeError), Worker(submission) as worker:
        for one in asked:
            found.append(_replied(worker, one.body, one.memory))
            if not worker.alive:
                break
    return found


def _difference(submission: Submission, asked: Sequence[_Asked]) -> str:
    try:
        with Worker(submission) as worker:
            for one in asked:
                reply, filled = _replied(worker, one.body, one.memory)
                if one.steady and (told := _other(one, reply, filled)):
                    return f"{one.body['op']}: {told}"
    except JudgeError as error:
        return str(error)
    return ""


def _other(one: _Asked, reply: Any, filled: Sequence[bytes]) -> str:
    if isinstance(one.reply, str) or isinstance(reply, str):
        return "" if one.reply == reply else f"{_kind(reply)} in place of {_kind(one.reply)}"
    if one.body["op"] == "fetch":
        dtype = np.dtype(one.body["dtype"])
        pairs = zip(one.filled, filled, strict=True)
        told = [_numbers(np.frombuffer(a, dtype), np.frombuffer(b, dtype)) for a, b in pairs]
        return next(filter(None, told), "")
    key = {"value": "value", "call": "tree"}.get(one.body["op"])
    return _plain(one.reply.get(key), reply.get(key)) if key else ""


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


def _scaled(asked: _Asked, scale: float, grain: float) -> tuple[bytes, ...]:
    if asked.body["op"] == "fetch":
        return asked.memory
    memory = list(asked.memory)
    for number, dtype in _arrays(asked.body):
        if np.dtype(dtype).kind != "f":
            continue
        numbers = np.frombuffer(memory[number], dtype)
        with np.errstate(all="ignore"):
            memory[number] = (np.round(numbers * scale / grain) * grain).astype(dtype).tobytes()
    return tuple(memory)


def _arrays(body: Any) -> Iterator[tuple[int, str]]:
    """Number and dtype of each array of a request."""
    if isinstance(body, Mapping):
        if _ARRAY in body and body["dtype"] != "bfloat16":
            yield body[_ARRAY], body["dtype"]
        for part in body.values():
            yield from _arrays(part)
    elif isinstance(body, list | tuple):
        for part in body:
            yield from _arrays(part)
