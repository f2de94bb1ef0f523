"""The jobs of a run that are under way on a cluster.

A job that a dead worker leaves is given by the scheduler to another one. What it had found until then is here
already: the rest alone is asked for again. A worker that will not judge gets nothing more to do.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import Protocol

from distributed import Future, KilledWorker

from judge_tui.checks.cluster.members import Members
from judge_tui.checks.cluster.remote import Message
from judge_tui.checks.cluster.sending import Flight, Inbox, Sending
from judge_tui.checks.errors import EngineError, WorkspaceError
from judge_tui.checks.events import Event, Failed, Finished, decode
from judge_tui.checks.jobs.job import Found, Work
from judge_tui.checks.jobs.local import Local
from judge_tui.checks.jobs.parcel import taken
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["Flights", "Inbox"]

#: Seconds that an event is waited for before something else is looked at.
_LOOK_S = 0.1
#: So many jobs are under way for each that runs; where they are short, so many seconds of them.
_PER_THREAD, _AHEAD_S, _MOST_AHEAD = 2, 1.0, 1000
#: So often a job is sent until that is told as its fault.
_TRIES = 4


class _Home(Protocol):
    """What is asked of the cluster."""

    members: Members

    @property
    def lost(self) -> bool:
        """Whether its scheduler is gone."""

    def gone(self) -> EngineError:
        """What is told then."""


class Flights:
    """Jobs under way.

    Args:
        cluster: Where.
        sending: Sends them.
        found: Told of every outcome.
        stopped: Whether the run was cancelled.
    """

    def __init__(self, cluster: _Home, sending: Sending, found: Found, stopped: Callable[[], bool]) -> None:
        self._cluster, self._sending, self._found, self._stopped = cluster, sending, found, stopped
        self._flights: dict[int, Flight] = {}
        self._ended: deque[float] = deque()

    def flown(self, works: Iterator[Work], inbox: Inbox) -> Iterator[Event]:
        """All that is heard until every job is done, or the run is cancelled."""
        more = True
        while not self._stopped() and (more or self._flights):
            if more:
                more = yield from self._filled(works)
            try:
                told = inbox.get(timeout=_LOOK_S) if self._flights else None
            except queue.Empty:
                told = None
            if isinstance(told, Message):
                yield from self._heard(told)
            elif told is not None:
                yield from self._over(*told)
            if self._flights:
                self._look()

    def cancel(self) -> None:
        """Let go of all that is under way."""
        flights, self._flights = list(self._flights.values()), {}
        if not self._cluster.lost:
            with suppress(Exception):
                self._sending.cancel(flights)

    def _look(self) -> None:
        """See whether everybody is still there."""
        if self._cluster.lost:
            raise self._cluster.gone()
        members, backend = self._cluster.members, self._sending.order.backend.name
        if not members.having(backend):
            members.wait(backend, self._stopped)
            # what was meant for those that are gone would wait for them for ever
            self._again(list(self._flights))

    def _room(self) -> int:
        """How many jobs may be under way: few, so that memory is; enough, so that no worker waits."""
        now = time.monotonic()
        while self._ended and now - self._ended[0] > _AHEAD_S:
            self._ended.popleft()
        least = _PER_THREAD * self._cluster.members.threads + 1
        return max(least, min(len(self._ended), _MOST_AHEAD))

    def _filled(self, works: Iterator[Work]) -> Generator[Event, None, bool]:
        """Send as many jobs as there is room for, some at once; gives whether there are more."""
        room = self._room()
        if len(self._flights) > room * 3 // 4:
            return True
        batch: list[Flight] = []
        work: Work | None = None
        while len(self._flights) + len(batch) < room and (work := next(works, None)) is not None:
            try:
                parcel, then = taken(work.submission)
            except WorkspaceError:
                # nothing of it could be sent, and its checks say why
                yield from self._here(work)
            else:
                batch.append(Flight(work, then, parcel, [check.id for check in work.checks]))
        self._flights |= self._sending.sent(batch)
        return work is not None

    def _here(self, work: Work) -> Iterator[Event]:
        return Local(1).events(self._sending.order, [work], self._found, self._stopped)

    def _heard(self, message: Message) -> Iterator[Event]:
        flight = self._flights.get(message.number)
        if flight is None:
            return
        if flight.worker not in ("", message.worker) and len(flight.left) < flight.asked:
            # another one has begun it anew, and need not find again what the first one did
            self._again([message.number])
            return
        flight.worker = message.worker
        event = decode(message.event)
        if isinstance(event, Failed):
            flight.refused = event.message
        elif not isinstance(event, Finished):
            yield event
        elif event.outcome.check in flight.left:
            flight.left.remove(event.outcome.check)
            self._found(flight.submission, message.device, event.outcome)
            yield event

    def _over(self, number: int, future: Future[None]) -> Iterator[Event]:
        flight = self._flights.get(number)
        if flight is None:
            return
        status = future.status
        if status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):
                raise EngineError(f"a worker of the cluster broke: {type(error).__name__}: {error}")
            del self._flights[number]
            yield from self._killed(flight)
        elif status != "finished":
            raise self._cluster.gone()
        elif flight.left:
            if flight.refused:
                self._cluster.members.bar(flight.worker, flight.refused)
            self._again([number])
        else:
            del self._flights[number]
            self._ended.append(time.monotonic())

    def _again(self, numbers: Iterable[int]) -> None:
        """Send what is left of jobs once more.

        Raises:
            EngineError: One was sent too often.
        """
        flights = [self._flights.pop(number) for number in numbers]
        self._sending.cancel(flights)
        for flight in flights:
            if flight.tries >= _TRIES:
                name = f"{self._sending.order.task.id}/{flight.submission.model}"
                why = flight.refused or "no worker has brought it to its end"
                raise EngineError(f"{name} was sent {_TRIES} times: {why}.", hint="What was found is kept.")
        backend = self._sending.order.backend.name
        if not self._cluster.members.having(backend):
            self._cluster.members.wait(backend, self._stopped)
        if not self._stopped():
            self._flights |= self._sending.sent(flights)

    def _killed(self, flight: Flight) -> Iterator[Event]:
        """Outcomes of what no worker has survived: nobody's verdict, and not kept."""
        order, versions = self._sending.order, {check.id: check.version for check in flight.work.checks}
        told = "every worker that judged it was killed: it may take more memory than they have"
        for check in flight.left:
            yield Finished(Outcome(
                flight.submission.model, order.task.id, check, Verdict.ERROR, told, 0.0, (), order.seed,
                versions[check], order.backend.name,
            ))  # fmt: skip
