"""Making jobs of works, and sending them: bytes go over the wire, and a function by its import path."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec
from distributed import Client, Future

from judge_tui.checks.cluster import remote
from judge_tui.checks.cluster.members import Members
from judge_tui.checks.jobs.job import Job, Order, Work, stamp
from judge_tui.checks.jobs.parcel import digest_of, packed
from judge_tui.checks.submission import Submission

__all__ = ["Flight", "Inbox", "Sending"]

#: Bytes of submissions that are sent at once.
_MOST_SENT = 8 << 20

#: What is heard of jobs: events, and that one has ended.
Inbox: TypeAlias = "queue.SimpleQueue[remote.Message | tuple[int, Future[None]]]"


@dataclass(slots=True)
class Flight:
    """A job that is under way.

    Attributes:
        work: What it is.
        submission: What is judged, as it was when it was read.
        parcel: The same as bytes.
        left: Ids of the checks without an outcome.
        asked: How many checks were asked for when it was sent last.
        tries: How often it was sent.
        future: The scheduler's word for it.
        worker: Address of who has begun it.
        refused: Why that one does not do it.
    """

    work: Work
    submission: Submission
    parcel: bytes
    left: list[str]
    asked: int = 0
    tries: int = 0
    future: Future[None] | None = None
    worker: str = ""
    refused: str = ""


@dataclass(slots=True)
class Sending:
    """Sends the jobs of one run.

    Attributes:
        client: The connection.
        members: Who may do them.
        order: What they have in common.
        run: Its name.
        inbox: Where their ends are told.
    """

    client: Client
    members: Members
    order: Order
    run: str
    inbox: Inbox
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _author: tuple[str, bytes] | None = None

    def sent(self, flights: Sequence[Flight]) -> dict[int, Flight]:
        """Send jobs; number → job.

        Args:
            flights: What is left of each.

        Raises:
            WorkspaceError: A challenge cannot be read.
        """
        made: dict[int, Flight] = {}
        batch: list[tuple[int, bytes, bytes]] = []
        for flight in flights:
            number = next(self._numbers)
            batch.append((number, msgspec.msgpack.encode(self._job(number, flight)), flight.parcel))
            made[number] = flight
            flight.asked, flight.worker, flight.refused = len(flight.left), "", ""
            flight.tries += 1
            if sum(len(each) for _, _, each in batch) > _MOST_SENT:
                self._send(batch, made)
                batch = []
        if batch:
            self._send(batch, made)
        return made

    def _job(self, number: int, flight: Flight) -> Job:
        order = self.order
        return Job(
            self.run, number, order.task.id, tuple(flight.left), order.seed, order.backend.name, stamp(),
            order.trust, digest_of(flight.parcel), order.challenge, self._judged_by()[0],
        )  # fmt: skip

    def _judged_by(self) -> tuple[str, bytes]:
        """Digest and bytes of what the task is judged by, where that is the user's own."""
        if self._author is None:
            challenge = self.order.challenge
            parcel = packed(challenge.folder) if challenge is not None else b""
            self._author = (digest_of(parcel) if parcel else "", parcel)
        return self._author

    def _send(self, batch: Sequence[tuple[int, bytes, bytes]], made: dict[int, Flight]) -> None:
        numbers, jobs, parcels = zip(*batch, strict=True)
        futures = self.client.map(
            remote.judged,
            jobs,
            parcels,
            [self._judged_by()[1]] * len(jobs),
            key=[f"judge-tui-{self.run}-{number}" for number in numbers],
            workers=self.members.having(self.order.backend.name),
            allow_other_workers=False,
            pure=False,
        )
        for number, future in zip(numbers, futures, strict=True):
            made[number].future = future
            future.add_done_callback(lambda ended, number=number: self.inbox.put((number, ended)))

    def cancel(self, flights: Sequence[Flight]) -> None:
        """Let go of jobs; a worker that is at one stops within a moment."""
        if futures := [each.future for each in flights if each.future is not None]:
            self.client.cancel(futures, force=True)
