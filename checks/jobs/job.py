"""One description of a job: checks of one submission, with all that another machine needs to do them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Protocol

import msgspec

from judge_tui.checks.backends import Backend, Name
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.check import Check
from judge_tui.checks.engine_version import EngineVersion, engine_version
from judge_tui.checks.events import Event
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.typed import from_msgpack
from judge_tui.checks.verdict import Outcome

__all__ = ["Executor", "Found", "Job", "Order", "Setting", "Stamp", "Work", "read_job", "stamp"]


class Stamp(msgspec.Struct, frozen=True):
    """Of an installation.

    Attributes:
        tool: Version of judge-tui.
        engine: Its checks, NumPy and Python.
    """

    tool: str
    engine: EngineVersion

    def differs(self, other: Stamp) -> str:
        """In what another one differs, as a clause; empty where it does not."""
        if self.tool != other.tool:
            return f"judge-tui {other.tool} in place of {self.tool}"
        return self.engine.differs(other.engine)


@functools.cache
def stamp() -> Stamp:
    """That of this process."""
    return Stamp(version("judge-tui"), engine_version())


class Job(msgspec.Struct, frozen=True):
    """What a machine is asked to do.

    Attributes:
        run: Of which run it is a part.
        number: Which part.
        task: Task id.
        checks: Check ids, in their order.
        seed: Replays the inputs.
        backend: Where arrays live.
        stamp: What has to judge; another one gives no verdict that could stand beside those of this one.
        trust: Do it although no full sandbox confines the submission.
        submission: Digest of the snapshot that comes with it.
        challenge: What a task of the user's own is judged by; its folder comes with the job.
        judged_by: Digest of that folder's snapshot; empty without one.
    """

    run: str
    number: int
    task: str
    checks: tuple[str, ...]
    seed: int
    backend: Name
    stamp: Stamp
    trust: bool
    submission: str
    challenge: Challenge | None = None
    judged_by: str = ""


def read_job(told: bytes) -> Job:
    """Read what :mod:`msgspec` wrote of a job.

    Raises:
        msgspec.MsgspecError: It is none.
    """
    return from_msgpack(told, Job)


@dataclass(frozen=True, slots=True)
class Work:
    """A job as long as it is at home: the submission is still a folder.

    Attributes:
        submission: What is judged.
        checks: Which checks, in their order.
        beside: Whether it runs beside all others, on what they leave of the processors.
    """

    submission: Submission
    checks: tuple[Check, ...]
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """What a run has in common.

    Attributes:
        task: The task.
        challenge: What it is made of, where it is the user's own.
        backend: Where arrays live, and the devices of that.
        seed: Replays the inputs.
        trust: Run although the sandbox is too weak.
    """

    task: Task
    challenge: Challenge | None
    backend: Backend
    seed: int
    trust: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """Where jobs are done.

    Attributes:
        device: The devices, in one line.
        level: The weakest measured level of a sandbox.
        notes: What is to be known of it, as sentences.
    """

    device: str
    level: str
    notes: tuple[str, ...] = ()


#: Told of an outcome as soon as it is there: what was judged, on which device, and what was found.
Found = Callable[[Submission, str, Outcome], None]


class Executor(Protocol):
    """Who does jobs: this machine, or a cluster."""

    def find(self, name: str) -> Backend:
        """A backend as it is to be had there, with all devices that it has."""

    def setting(self, backend: Backend, *, trust: bool) -> Setting:
        """Where jobs of a backend are done.

        Raises:
            UsageError: Nothing confines submissions there, and that is not said to be fine.
        """

    def events(
        self, order: Order, works: Iterable[Work], found: Found, stopped: Callable[[], bool]
    ) -> Iterator[Event]:
        """Do jobs, and tell what happens.

        Args:
            order: What they have in common.
            works: The jobs, taken as there is room for them.
            found: Told of every outcome before it is given on.
            stopped: Whether the run was cancelled.
        """
