"""What a right submission was asked and answered, to be asked of others: the fuzz that says what is alike.

The checks themselves ask, but under seeds that no verdict comes from, with sizes from wider ranges, and, in a
second round, with other numbers in every array. What they make of the answers does not matter here: two
submissions are alike as far as this fuzz sees where their answers to all of it are equal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.connection import Connection
from judge_tui.checks.calling.remote import Target, Worker
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Fault
from judge_tui.checks.one_check import run_check
from judge_tui.checks.paths.counting import SEEN
from judge_tui.checks.repair.recording import ANSWERS, Asked, Recorder, other, replied
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

__all__ = ["Recording", "recorded"]

#: Seconds of one request: what takes longer is left out of the fuzz.
_LONGEST = 0.4
#: Seconds that an edited one may take for a request.
_PATIENCE = 10.0
_ARRAY = "$a"


@dataclass(slots=True)
class Recording:
    """What a right submission was asked, process by process.

    Attributes:
        rounds: The requests to each process, in their order.
    """

    rounds: list[list[Asked]] = field(default_factory=list)

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
                replace(one, reply=reply, filled=filled, steady=one.body["op"] in ANSWERS and not told)
                for one, (reply, filled), again in zip(asked, first, second, strict=False)
                for told in [other(replace(one, reply=reply, filled=filled), *again)]
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
                    replied(worker, one, budget=_PATIENCE)
                seen |= set(worker.value(worker.call(Target(file, SEEN), method="copy").handle))
        return frozenset(seen)


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
def _recording() -> Iterator[list[list[Asked]]]:
    """Write down what every worker is asked meanwhile, but for what takes long."""
    rounds: dict[int, list[Asked]] = {}
    listed: list[list[Asked]] = []
    kept: list[Connection] = []
    request = Connection._request  # noqa: SLF001 - all requests go through it

    def asked(
        self: Connection, body: Mapping[str, Any], budget: float, fds: Sequence[int] = ()
    ) -> dict[str, Any]:
        recorder = Recorder()
        recorder(body, fds)
        try:
            return request(self, body, budget, fds)
        finally:
            if id(self) not in rounds:
                kept.append(self)  # so that none that starts later is taken for it
            each = rounds.setdefault(id(self), [])
            if self.took < _LONGEST or body["op"] == "load":
                each += recorder.asked

    with patch.object(Connection, "_request", asked):
        yield listed
    listed += rounds.values()


def _answers(submission: Submission, asked: Sequence[Asked]) -> list[tuple[Any, tuple[bytes, ...]]]:
    """What a submission answers, until it ends."""
    found = []
    with contextlib.suppress(JudgeError), Worker(submission) as worker:
        for one in asked:
            found.append(replied(worker, one, budget=_PATIENCE))
            if not worker.alive:
                break
    return found


def _difference(submission: Submission, asked: Sequence[Asked]) -> str:
    try:
        with Worker(submission) as worker:
            for one in asked:
                reply, filled = replied(worker, one, budget=_PATIENCE)
                if one.steady and (told := other(one, reply, filled)):
                    return f"{one.body['op']}: {told}"
    except JudgeError as error:
        return str(error)
    return ""


def _scaled(asked: Asked, scale: float, grain: float) -> tuple[bytes, ...]:
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
