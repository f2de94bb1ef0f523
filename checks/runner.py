"""Running the checks of a request: events stream out as they happen.

What has to be judged becomes jobs, the checks of one submission that share a process one, those that share
none another; an executor does them, on this machine or on many (:mod:`judge_tui.checks.jobs`).
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import msgspec

from judge_tui.checks.backends import Backend, Place, choose
from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.task import task_of
from judge_tui.checks.check import Check
from judge_tui.checks.errors import JudgeError, UsageError
from judge_tui.checks.events import Done, Event, Finished, Planned, PlannedCheck, Ready
from judge_tui.checks.jobs.job import Executor, Order, Work
from judge_tui.checks.jobs.local import Local, sandboxed
from judge_tui.checks.jobs.performing import beside as beside_of
from judge_tui.checks.judged import whole
from judge_tui.checks.one_check import run_check, run_placed
from judge_tui.checks.placement import aside, dealt
from judge_tui.checks.request import Request
from judge_tui.checks.sandbox import Mode
from judge_tui.checks.store import Run, Store, one_seed
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["judge", "run", "run_check", "run_placed", "sandboxed"]

#: So many submissions all have their first verdicts before any has its last ones; of more, each is done with
#: before the next, so that few snapshots are there at once.
_FEW = 8


def run(
    request: Request,
    *,
    cancel: threading.Event | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
) -> Generator[Event, None, None]:
    """Judge what is asked for.

    Args:
        request: What to run.
        cancel: Set it to stop; workers are killed and the iterator ends.
        store: Where outcomes are kept.
        executor: Who runs the checks; this machine when left out.

    Yields:
        Planned, the stored outcomes, Ready, then Started, Progress and Finished as they happen, and Done.

    Raises:
        UsageError: An unknown task, check or backend, or a sandbox too weak without ``trust``.
    """
    started = time.monotonic()
    cancel = cancel or threading.Event()
    store = store or Store()
    executor = executor or Local(request.jobs)
    task = task_of(request.task, request.challenge)
    chosen = _chosen(task, request.checks)
    backend = choose(request.backend, task.backends, task.id, executor.find)
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
    known = _Known(store, backend, fresh=request.fresh)
    # figures of different seeds stand nowhere side by side: the newest stored one is that of all
    seed = known.seed(submissions) if request.seed is None else request.seed
    todo: deque[tuple[Submission, list[Check]]] = deque()
    mending = _Mending(request, task, _Keeper(store, backend))
    for submission in submissions:
        stored = _standing(known.runs(submission), seed, chosen)
        for outcome in stored.values():
            yield mending.heard(Finished(outcome, cached=True))
        open_checks = [check for check in chosen if check.id not in stored]
        if open_checks and submission.model not in same:
            todo.append((submission, open_checks))
    # who is judged is known by the jobs alone, which let go of each as it is done
    submissions.clear()
    if todo:
        setting = executor.setting(backend, trust=request.trust)
        seed = secrets.randbelow(2**31) if seed is None else seed
        store.chose(task.id, request.backend, backend.name, (device.name for device in backend.devices))
        yield Ready(backend.name, setting.device, setting.level, seed, setting.notes)
        order = Order(task, request.challenge, backend, seed, request.trust)
        works = _works(todo, backend, request.jobs)
        for event in executor.events(order, works, _Keeper(store, backend).keep, cancel.is_set):
            yield mending.heard(event)
            if isinstance(event, Finished):
                yield from _for_the_same(event.outcome, same)
    yield from mending.events(cancel.is_set)
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


@dataclass(slots=True)
class _Known:
    """What is stored of submissions, read as it is asked for: of thousands none is held.

    Attributes:
        fresh: Whether nothing of it counts.
    """

    store: Store
    backend: Backend
    fresh: bool

    def runs(self, submission: Submission) -> list[Run]:
        """What was found of one, a run per seed and device."""
        if self.fresh:
            return []
        with contextlib.suppress(JudgeError):
            return [
                run
                for device in self.backend.devices
                for run in self.store.runs(submission, self.backend.name, device.name)
            ]
        return []

    def seed(self, submissions: Iterable[Submission]) -> int | None:
        """The seed of the newest run of any."""
        bare = (Run(run.seed, run.at, ()) for each in submissions for run in self.runs(each))
        return one_seed(bare)


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


@dataclass(slots=True)
class _Keeper:
    """Stores outcomes, under the snapshot that was judged."""

    store: Store
    backend: Backend

    def keep(self, submission: Submission, device: str, outcome: Outcome) -> None:
        """Keep one; where it cannot be told what of, it is not kept."""
        with contextlib.suppress(JudgeError):
            self.store.keep([outcome], self.store.key(submission, self.backend.name, device))


@dataclass(slots=True)
class _Mending:
    """Looks for one edit that mends a submission once its checks are done, where that is asked for.

    Attributes:
        request: What is asked for.
        task: The task.
        keeper: Keeps the outcomes that say more.
        found: Model → check id → outcome, of those that are looked at.
    """

    request: Request
    task: Task
    keeper: _Keeper
    found: dict[str, dict[str, Outcome]] = field(default_factory=dict)

    def heard(self, event: Event) -> Event:
        """Remember an outcome."""
        if self.request.repair > 0 and isinstance(event, Finished):
            self.found.setdefault(event.outcome.model, {})[event.outcome.check] = event.outcome
        return event

    def events(self, stopped: Callable[[], bool]) -> Iterator[Event]:
        """What is told of the searches, one submission after another."""
        for index, asked in enumerate(self.request.submissions):
            outcomes = self.found.get(asked.model, {})
            if stopped() or not any(one.verdict is Verdict.FAIL for one in outcomes.values()):
                continue
            # what few runs need costs the start of none anything
            from judge_tui.checks.repair.telling import search

            submission = _submission(self.request, index)
            for event in search(
                self.task, submission, outcomes, seconds=self.request.repair, stopped=stopped
            ):
                if isinstance(event, Finished):
                    self.keeper.keep(submission, event.outcome.device, event.outcome)
                yield event


def _works(todo: deque[tuple[Submission, list[Check]]], backend: Backend, jobs: int) -> Iterator[Work]:
    """The jobs, made as they are asked for; what is done with is let go."""
    count, places = len(todo), backend.places

    def parts(submission: Submission, checks: list[Check]) -> Iterator[Work]:
        for part in dealt(checks, count, places, jobs):
            yield Work(submission, tuple(part), aside(part, places, jobs))

    if count > _FEW:
        while todo:
            yield from parts(*todo.popleft())
        return
    # The first parts of all submissions first, so that each has verdicts soon.
    for turn in zip_longest(*(parts(*each) for each in todo)):
        yield from filter(None, turn)


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
    beside = beside_of(task, submission, seed, mode, place)
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
