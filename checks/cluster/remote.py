"""What runs in a worker of a cluster: called by its import path, with bytes, and answering with bytes.

What happens goes back as events, under one topic for all runs: a scheduler keeps the last thousand of each.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
from distributed import Worker, get_worker

from judge_tui.checks import sandbox
from judge_tui.checks.backends import find
from judge_tui.checks.challenges.task import task_of
from judge_tui.checks.cluster import facts as facts_of
from judge_tui.checks.cluster.threads import one_thread
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.events import Event, Failed, encode
from judge_tui.checks.jobs.job import Job, read_job
from judge_tui.checks.jobs.parcel import arrived, digest_of, unpacked
from judge_tui.checks.jobs.performing import Performance
from judge_tui.checks.placement import Devices
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.typed import from_json, from_msgpack

__all__ = ["TOPIC", "Message", "facts", "judged", "read_message"]

#: Where events of all runs go; who listens takes those of its own.
TOPIC = "judge-tui"
#: Seconds between two looks at whether a job is still wanted.
_LOOK_S = 0.25
#: Challenges whose code has been asked what it offers.
_MOST_CHALLENGES = 8
#: Jobs that compute on processors at once are as many as the worker has threads.
_MANY = 1024
_making = threading.Lock()


class Message(msgspec.Struct, frozen=True, array_like=True):
    """An event on its way back.

    Attributes:
        run: Of which run.
        number: Of which job.
        worker: Address of the worker.
        device: Where the job computes.
        event: The event, as a line of JSON.
    """

    run: str
    number: int
    worker: str
    device: str
    event: bytes


def read_message(told: bytes) -> Message:
    """Read one.

    Raises:
        msgspec.MsgspecError: It is none.
    """
    return from_msgpack(told, Message)


def facts(dask_worker: Worker) -> bytes:
    """What this worker is and has; see :mod:`.facts`.

    Args:
        dask_worker: Given by Dask, under this name.
    """
    _prepared(dask_worker)
    return facts_of.facts()


def judged(told: bytes, submission: bytes, judged_by: bytes) -> None:
    """Do a job; what happens, and what stands against it, goes back as events.

    Args:
        told: The job.
        submission: What it judges.
        judged_by: What it is judged by, where that is the user's own; else empty.
    """
    worker, job = get_worker(), read_job(told)
    _prepared(worker)
    try:
        if why := _refused(job, submission, judged_by):
            _tell(worker, job, "", Failed(why))
            return
        _perform(worker, job, submission, judged_by)
    except JudgeError as error:
        _tell(worker, job, "", Failed(f"it could not judge: {error.message}", error.hint))


@functools.cache
def _prepared(worker: Worker) -> None:
    """Compute as a machine that judges alone does, and stop Dask's profiler.

    That asks for the frames of all threads a hundred times a second. Garbage may be collected then; where
    that closes a file, and a thread ends meanwhile, CPython of before 3.12.1 stands still for ever (its issue
    106883).
    """
    one_thread()
    for name in ("profile", "profile-cycle"):
        if (callback := worker.periodic_callbacks.get(name)) is not None:
            worker.loop.add_callback(callback.stop)


def _refused(job: Job, submission: bytes, judged_by: bytes) -> str:
    """Why this worker does not do a job: it may be another one than that which was asked."""
    if digest_of(submission) != job.submission or (judged_by and digest_of(judged_by) != job.judged_by):
        return "what it was sent arrived broken"
    mine = facts_of.read_facts(_own_facts())
    if not find(job.backend).works:
        return f"it has no backend '{job.backend}'"
    return facts_of.refusal(mine, job.stamp, trust=job.trust)


@functools.cache
def _own_facts() -> bytes:
    return facts_of.facts()


def _perform(worker: Worker, job: Job, submission: bytes, judged_by: bytes) -> None:
    task = _task(job, judged_by)
    with arrived(submission) as held, _devices(job.backend).taken() as place:

        def tell(event: Event) -> None:
            _tell(worker, job, place.device.name, event)

        performance = Performance(
            task, [task.by_id[check] for check in job.checks], held, seed=job.seed, place=place,
            level=str(sandbox.measure().level), progress=tell,
        )  # fmt: skip
        with _wanted(worker, worker.get_current_task(), performance):
            for event in performance.events():
                tell(event)


@functools.cache
def _devices(backend: str) -> Devices:
    """Places that jobs take in turn: a GPU has one at a time, whatever the worker's threads."""
    return Devices(find(backend).places, _MANY)


def _task(job: Job, judged_by: bytes) -> Task:
    if job.challenge is None:
        return task_of(job.task, None)
    with _making:
        return _made(msgspec.json.encode(job.challenge), judged_by)[0]


@functools.lru_cache(_MOST_CHALLENGES)
def _made(challenge: bytes, judged_by: bytes) -> tuple[Task, Submission]:
    """The task of a challenge, and its files, which stay as long as it does."""
    from judge_tui.checks.challenges.challenge import Challenge

    held = unpacked(judged_by)
    told = from_json(challenge, Challenge)
    return task_of(told.id, Challenge(told.id, str(held.path), told.settings)), held


def _tell(worker: Worker, job: Job, device: str, event: Event) -> None:
    message = Message(job.run, job.number, worker.address, device, encode(event))
    worker.log_event(TOPIC, msgspec.msgpack.encode(message))


@contextlib.contextmanager
def _wanted(worker: Worker, key: Any, performance: Performance) -> Iterator[None]:
    """Stop a job that nobody waits for any more: its run was cancelled, or has ended."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_S):
            known = worker.state.tasks.get(key)
            if known is None or known.state == "cancelled" or worker.status.name in ("closing", "closed"):
                performance.stop()
                return

    threading.Thread(target=look, daemon=True, name="judge-tui-wanted").start()
    try:
        yield
    finally:
        over.set()
