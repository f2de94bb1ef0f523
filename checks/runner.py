"""Running the checks of a request: events stream out as they happen.

Submissions run beside each other, the checks of one submission that share a process one after
another, those that share none beside these and behind them. ``one_check`` makes an outcome of each.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

import msgspec

from judge_tui.checks import sandbox
from judge_tui.checks.backends import Backend, Place, choose, find
from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.task import task_of
from judge_tui.checks.check import Check
from judge_tui.checks.errors import JudgeError, UsageError
from judge_tui.checks.events import (
    Done,
    Event,
    Finished,
    Planned,
    PlannedCheck,
    Progress,
    Ready,
    Started,
)
from judge_tui.checks.judged import whole
from judge_tui.checks.one_check import run_check, run_placed
from judge_tui.checks.placement import Devices, aside, dealt, stand_back
from judge_tui.checks.request import Request
from judge_tui.checks.sandbox import Mode
from judge_tui.checks.store import Run, Store, one_seed
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome

__all__ = ["judge", "run", "run_check", "run_placed", "sandboxed"]


@dataclass(frozen=True, slots=True)
class _Setting:
    backend: Backend
    level: str
    seed: int
    mode: Mode


def run(
    request: Request, *, cancel: threading.Event | None = None, store: Store | None = None
) -> Generator[Event, None, None]:
    """Judge what is asked for.

    Args:
        request: What to run.
        cancel: Set it to stop; workers are killed and the iterator ends.
        store: Where outcomes are kept.

    Yields:
        Planned, the stored outcomes, Ready, then Started, Progress and Finished as they happen, and Done.

    Raises:
        UsageError: An unknown task, check or backend, or a sandbox too weak without ``trust``.
    """
    started = time.monotonic()
    cancel = cancel or threading.Event()
    store = store or Store()
    task = task_of(request.task, request.challenge)
    chosen = _chosen(task, request.checks)
    backend = choose(request.backend, task.backends, task.id)
    if request.seed is not None and request.seed < 0:
        raise UsageError(f"the seed {request.seed} is negative", hint="Seeds are whole numbers from 0 on.")
    submissions = [_submission(request, index) for index in range(len(request.submissions))]
    same = _same(store, submissions, backend)
    yield Planned(task.id, tuple(
        PlannedCheck(submission.model, check.id, check.title, check.establishes)
        for submission in submissions for check in chosen
    ), task.backends, backend.name, same)  # fmt: skip
    with contextlib.suppress(JudgeError, IndexError):
        store.remember(submissions[0], whole(task))
    runs = [[] if request.fresh else _runs(store, submission, backend) for submission in submissions]
    # figures of different seeds stand nowhere side by side: the newest stored one is that of all
    seed = one_seed(chain.from_iterable(runs)) if request.seed is None else request.seed
    todo: list[tuple[Submission, list[Check]]] = []
    for submission, known in zip(submissions, runs, strict=True):
        stored = _standing(known, seed, chosen)
        for outcome in stored.values():
            yield Finished(outcome, cached=True)
        open_checks = [check for check in chosen if check.id not in stored]
        if open_checks and submission.model not in same:
            todo.append((submission, open_checks))
    if todo:
        setting = _setting(request, backend, seed)
        store.chose(task.id, request.backend, backend.name, (device.name for device in backend.devices))
        yield Ready(backend.name, backend.line, setting.level, setting.seed, sandbox.measure().notes)
        for event in _side_by_side(task, todo, setting, request.jobs, cancel, store):
            yield event
            if isinstance(event, Finished):
                yield from _for_the_same(event.outcome, same)
    yield Done(time.monotonic() - started)


def _chosen(task: Task, ids: Sequence[str]) -> list[Check]:
    if unknown := [id for id in ids if id not in task.by_id]:
        raise UsageError(
            f"task '{task.id}' has no check '{unknown[0]}'", hint=f"Known: {', '.join(task.by_id)}."
        )
    return [check for check in task.checks if not ids or check.id in ids]


def _submission(request: Request, index: int) -> Submission:
    asked = request.submissions[index]
    challenge = request.challenge.folder if request.challenge is not None else None
    return Submission(
        asked.model, request.task, Path(asked.path).absolute(), tuple(map(Path, asked.overlays)),
        judged_by=challenge,
    )  # fmt: skip


def _same(store: Store, submissions: Iterable[Submission], backend: Backend) -> dict[str, str]:
    """Attempt → an earlier one with the same files and bindings: both have one outcome."""
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for submission in submissions:
        with contextlib.suppress(JudgeError):
            if not submission.files:
                continue
            known = first.setdefault(store.key(submission, backend.name, ""), submission.model)
            if known != submission.model:
                found[submission.model] = known
    return found


def _for_the_same(outcome: Outcome, same: Mapping[str, str]) -> Iterator[Finished]:
    """The outcome of an attempt as that of those which are the same."""
    for model, judged in same.items():
        if judged == outcome.model:
            yield Finished(msgspec.structs.replace(outcome, model=model))


def _runs(store: Store, submission: Submission, backend: Backend) -> list[Run]:
    with contextlib.suppress(JudgeError):
        return [
            run for device in backend.devices for run in store.runs(submission, backend.name, device.name)
        ]
    return []


def _standing(runs: Iterable[Run], seed: int | None, chosen: Sequence[Check]) -> dict[str, Outcome]:
    """Check id → what was found under a seed and need not be found again."""
    versions = {check.id: check.version for check in chosen}
    return {
        outcome.check: outcome
        for run in runs
        if run.seed == seed
        for outcome in run.outcomes
        if versions.get(outcome.check) == outcome.version
    }


def _keys(store: Store, submission: Submission, places: Sequence[Place]) -> Mapping[str, str]:
    """Device → what outcomes are kept under; nothing when it cannot be told."""
    with contextlib.suppress(JudgeError):
        return {one.device.name: store.key(submission, one.backend, one.device.name) for one in places}
    return {}


def sandboxed(trust: bool) -> str:
    """The measured level of the sandbox.

    Raises:
        UsageError: Nothing confines submissions here, and that is not said to be fine.
    """
    measured = sandbox.measure()
    if measured.level == sandbox.Level.NONE and not trust:
        raise UsageError(
            "submissions are untrusted programs and nothing confines them on this machine",
            hint="Install bubblewrap (see 'judge-tui doctor'), or say --trust to run them unconfined.",
        )
    return str(measured.level)


def _setting(request: Request, backend: Backend, seed: int | None) -> _Setting:
    level = sandboxed(request.trust)
    return _Setting(backend, level, secrets.randbelow(2**31) if seed is None else seed, "auto")


@dataclass(frozen=True, slots=True)
class _Job:
    """Checks of one submission.

    Attributes:
        keys: Device → what its outcomes are stored under, by the snapshot that is judged; empty when they
            are not.
        beside: A bench on the CPU, for a job on a GPU.
    """

    bench: Bench
    checks: Sequence[Check]
    keys: Mapping[str, str]
    beside: Bench | None = None

    @property
    def benches(self) -> tuple[Bench, ...]:
        """All that have to be stopped."""
        return (self.bench,) if self.beside is None else (self.bench, self.beside)


_Events = queue.SimpleQueue[Event | BaseException | None]


def _side_by_side(
    task: Task,
    todo: Sequence[tuple[Submission, list[Check]]],
    setting: _Setting,
    jobs: int,
    cancel: threading.Event,
    store: Store,
) -> Iterator[Event]:
    """Run each submission's checks on a thread, each thread on a device of its own."""
    events: _Events = queue.SimpleQueue()
    places = setting.backend.places
    devices = Devices(places, jobs)
    # What runs on the processors at once, and what beside that takes what is left of them.
    waiting: queue.SimpleQueue[_Job] = queue.SimpleQueue()
    idle: queue.SimpleQueue[_Job] = queue.SimpleQueue()

    def work(source: queue.SimpleQueue[_Job]) -> None:
        if source is idle:
            stand_back()
        with contextlib.suppress(queue.Empty):
            while True:
                job = source.get_nowait()
                judged(job, devices.taken() if source is waiting else contextlib.nullcontext(places[0]))

    def judged(job: _Job, taken: contextlib.AbstractContextManager[Place]) -> None:
        try:
            with taken as place:
                job.bench.place = place
                for event in _judged(task, job, setting, cancel, store):
                    events.put(event)
        except BaseException as error:
            events.put(error)
        finally:
            for bench in job.benches:
                bench.close()
            events.put(None)

    parts = [(s, dealt(checks, len(todo), places, jobs)) for s, checks in todo]
    # The first parts of all submissions first, so that each has verdicts soon.
    before = [
        _job(task, submission, part, setting, events, store)
        for turn in zip_longest(*(dealing for _, dealing in parts))
        for (submission, _), part in zip(parts, turn, strict=True)
        if part
    ]
    for job in before:
        (idle if aside(job.checks, places, jobs) else waiting).put(job)
    for each in (waiting, idle):
        for _ in range(min(devices.count, each.qsize())):
            threading.Thread(target=work, args=(each,), daemon=True).start()
    done = False
    try:
        yield from _drained(events, len(before), cancel)
        done = not cancel.is_set()
    finally:
        if not done:
            cancel.set()
        for job in before:
            for bench in job.benches:
                bench.stop()


def _job(
    task: Task,
    submission: Submission,
    checks: Sequence[Check],
    setting: _Setting,
    events: _Events,
    store: Store,
) -> _Job:
    places = setting.backend.places

    def tell(note: str, fraction: float | None) -> None:
        events.put(Progress(submission.model, task.id, bench.check, note, fraction))

    beside = _beside(task, submission, setting.seed, setting.mode, places[0])
    bench = Bench(
        submission, task.contract, seed=setting.seed, mode=setting.mode, progress=tell, place=places[0],
        binds=beside,
    )  # fmt: skip
    return _Job(bench, checks, _keys(store, bench.submission, places), beside)


def _beside(task: Task, submission: Submission, seed: int, mode: Mode, place: Place) -> Bench | None:
    """A bench on the CPU, beside one on a GPU, where the task runs on both."""
    if not place.gpu or "cpu" not in task.backends:
        return None
    return Bench(submission, task.contract, seed=seed, mode=mode, place=find("cpu").places[0])


def _judged(
    task: Task, job: _Job, setting: _Setting, cancel: threading.Event, store: Store
) -> Iterator[Event]:
    """The events of one submission's checks, one check after another; outcomes are stored."""
    for check in job.checks:
        if cancel.is_set():
            return
        yield Started(job.bench.submission.model, task.id, check.id)
        outcome = run_placed(task, check, job.bench, job.beside, sandbox_level=setting.level)
        if not cancel.is_set():
            if key := job.keys.get(job.bench.place.device.name):
                store.keep([outcome], key)
            yield Finished(outcome)


def _drained(events: _Events, running: int, cancel: threading.Event) -> Iterator[Event]:
    """What the threads tell until all of them have ended, or it is cancelled."""
    while running and not cancel.is_set():
        try:
            event = events.get(timeout=0.1)
        except queue.Empty:
            continue
        if event is None:
            running -= 1
        elif isinstance(event, BaseException):
            raise event
        else:
            yield event


def judge(
    task: Task,
    submission: Submission,
    *,
    seed: int,
    checks: Sequence[str] = (),
    mode: Mode = "auto",
    place: Place | None = None,
    begins: Callable[[str], None] = lambda check: None,
    enough: Callable[[Outcome], bool] = lambda outcome: False,
) -> dict[str, Outcome]:
    """Run checks on one submission in this thread, without store or events; for tests and scripts.

    Args:
        task: The task.
        submission: What is judged.
        seed: Replays the inputs.
        checks: Ids; empty for all.
        mode: How the worker is confined.
        place: Where it computes; the CPU when left out.
        begins: Told of each check before it runs.
        enough: Whether no further check is wanted after an outcome.

    Returns:
        Check id → outcome.
    """
    place = place or Place()
    beside = _beside(task, submission, seed, mode, place)
    bench = Bench(submission, task.contract, seed=seed, mode=mode, place=place, binds=beside)
    found: dict[str, Outcome] = {}
    try:
        for check in _chosen(task, checks):
            begins(check.id)
            outcome = found[check.id] = run_placed(task, check, bench, beside)
            if enough(outcome):
                break
        return found
    finally:
        bench.close()
        if beside is not None:
            beside.close()
