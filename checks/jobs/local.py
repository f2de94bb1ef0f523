"""Jobs done on this machine: each on a thread, each thread on a device of its own."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from judge_tui.checks import sandbox
from judge_tui.checks.backends import Backend, Place, find
from judge_tui.checks.errors import UsageError
from judge_tui.checks.events import Event, Finished
from judge_tui.checks.jobs.job import Found, Order, Setting, Work
from judge_tui.checks.jobs.performing import Performance
from judge_tui.checks.placement import Devices, stand_back

__all__ = ["Local", "sandboxed"]

#: Jobs that wait beyond those that run, of each kind.
_AHEAD = 2
#: Seconds between two looks at whether a run was cancelled.
_LOOK_S = 0.1


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


class Local:
    """This machine.

    Args:
        jobs: Submissions judged at once; 0 for one per processor, or one per device.
    """

    def __init__(self, jobs: int = 0) -> None:
        self._jobs = jobs

    def find(self, name: str) -> Backend:
        """A backend as it is on this machine."""
        return find(name)

    def setting(self, backend: Backend, *, trust: bool) -> Setting:
        """This machine's devices and its sandbox.

        Raises:
            UsageError: Nothing confines submissions here, and that is not said to be fine.
        """
        return Setting(backend.line, sandboxed(trust), sandbox.measure().notes)

    def events(
        self, order: Order, works: Iterable[Work], found: Found, stopped: Callable[[], bool]
    ) -> Iterator[Event]:
        """Do jobs here, and tell what happens."""
        level = sandboxed(order.trust)
        yield from _Run(order, level, Devices(order.backend.places, self._jobs), found, stopped).events(works)


class _Run:
    """Threads that do the jobs of one run.

    Args:
        order: What they have in common.
        level: Measured level of the sandbox.
        devices: Which they take in turn.
        found: Told of every outcome.
        stopped: Whether the run was cancelled.
    """

    def __init__(
        self, order: Order, level: str, devices: Devices, found: Found, stopped: Callable[[], bool]
    ) -> None:
        self._order, self._level, self._devices = order, level, devices
        self._found, self._stopped = found, stopped
        self._events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
        # What runs on the processors at once, and what beside that takes what is left of them.
        self._waiting = {beside: queue.SimpleQueue[Work | None]() for beside in (False, True)}
        self._threads = dict.fromkeys(self._waiting, 0)
        self._under_way: set[Performance] = set()
        self._lock = threading.Lock()
        self._ended = False

    def events(self, works: Iterable[Work]) -> Iterator[Event]:
        """All that happens, until all is done or it is cancelled."""
        taken, open_ = iter(works), 0
        # jobs of one kind may wait while threads of the other have none
        kept: dict[bool, deque[Work]] = {beside: deque() for beside in self._waiting}
        done = False
        try:
            open_ += self._handed_out(taken, kept)
            while open_ and not self._stopped():
                with contextlib.suppress(queue.Empty):
                    event = self._events.get(timeout=_LOOK_S)
                    if isinstance(event, BaseException):
                        raise event
                    if event is not None:
                        yield event
                    else:
                        open_ += self._handed_out(taken, kept) - 1
            done = not self._stopped()
        finally:
            self._end(killed=not done)

    def _handed_out(self, works: Iterator[Work], kept: dict[bool, deque[Work]]) -> int:
        """Hand out as many jobs as there is room for; how many they are."""
        count, most = 0, self._devices.count + _AHEAD
        while not all(self._waiting[beside].qsize() >= most for beside in self._waiting):
            work = next(
                (kept[b].popleft() for b in kept if kept[b] and self._waiting[b].qsize() < most), None
            )
            if work is None and (work := next(works, None)) is None:
                return count
            if self._waiting[work.beside].qsize() >= most:
                kept[work.beside].append(work)
                if len(kept[work.beside]) >= most:
                    return count
                continue
            self._waiting[work.beside].put(work)
            self._thread_for(work.beside)
            count += 1
        return count

    def _thread_for(self, beside: bool) -> None:
        if self._threads[beside] < self._devices.count:
            self._threads[beside] += 1
            threading.Thread(target=self._work, args=(beside,), daemon=True).start()

    def _work(self, beside: bool) -> None:
        if beside:
            stand_back()
        first = self._order.backend.places[0]
        while (work := self._waiting[beside].get()) is not None:
            try:
                with contextlib.nullcontext(first) if beside else self._devices.taken() as place:
                    self._perform(work, place)
            except BaseException as error:
                self._events.put(error)
            finally:
                self._events.put(None)

    def _perform(self, work: Work, place: Place) -> None:
        order = self._order
        performance = Performance(
            order.task, work.checks, work.submission, seed=order.seed, place=place, level=self._level,
            progress=self._events.put,
        )  # fmt: skip
        with self._lock:
            self._under_way.add(performance)
            ended = self._ended
        if ended:
            performance.stop()
        try:
            for event in performance.events():
                if isinstance(event, Finished):
                    self._found(performance.submission, place.device.name, event.outcome)
                self._events.put(event)
        finally:
            with self._lock:
                self._under_way.discard(performance)

    def _end(self, *, killed: bool) -> None:
        """Let the threads go; where it was cancelled, kill what they have started."""
        with self._lock:
            self._ended = True
            under_way = tuple(self._under_way) if killed else ()
        for beside, count in self._threads.items():
            if killed:
                with contextlib.suppress(queue.Empty):
                    while True:
                        self._waiting[beside].get_nowait()
            for _ in range(count):
                self._waiting[beside].put(None)
        for performance in under_way:
            performance.stop()
