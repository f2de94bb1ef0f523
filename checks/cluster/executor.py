"""Jobs done by a Dask cluster: sent as bytes, a few more than there are threads, and heard as events."""

from __future__ import annotations

import queue
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

import msgspec

from judge_tui.checks.backends import Backend
from judge_tui.checks.cluster import remote
from judge_tui.checks.cluster.connection import Address, connected
from judge_tui.checks.cluster.flights import Flights, Inbox
from judge_tui.checks.cluster.members import Members
from judge_tui.checks.cluster.sending import Sending
from judge_tui.checks.errors import EngineError
from judge_tui.checks.events import Event
from judge_tui.checks.jobs.job import Found, Order, Setting, Work
from judge_tui.checks.sandbox import Level

__all__ = ["Cluster"]

#: The weakest first.
_LEVELS = (Level.NONE, Level.PARTIAL, Level.FULL)
#: So many hosts are named in one line.
_NAMED = 3


class Cluster:
    """A Dask cluster.

    Args:
        address: Where its scheduler is; without one, workers are started on this machine.
        trust: Whether workers without a full sandbox may judge.
        warn: Told a sentence of each that may not.

    Raises:
        UsageError: It cannot be reached.
        EngineError: No worker may judge.

    Attributes:
        members: Its workers.
    """

    def __init__(
        self, address: Address, *, trust: bool = False, warn: Callable[[str], None] = lambda told: None
    ) -> None:
        self._where = address.known
        self._client, self._cluster = connected(address)
        self.members = Members(self._client, trust=trust, warn=warn)
        self._inboxes: dict[str, Inbox] = {}
        try:
            self._client.subscribe_topic(remote.TOPIC, self._heard)
            self.members.wait()
            self.members.follow()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave it; workers that were started for it end."""
        self.members.leave()
        for each in (self._client, self._cluster):
            if each is not None:
                with suppress(Exception):
                    each.close(timeout=5)

    def find(self, name: str) -> Backend:
        """A backend as the workers have it together."""
        return self.members.backend(name)

    def setting(self, backend: Backend, *, trust: bool) -> Setting:
        """The workers' devices, and the weakest of their sandboxes."""
        admitted = self.members.admitted.values()
        levels = sorted((Level(one.level) for one in admitted), key=_LEVELS.index)
        hosts = sorted({one.host for one in admitted})
        notes = tuple(dict.fromkeys(note for one in admitted for note in one.notes))
        told = f"{backend.line} on {', '.join(hosts[:_NAMED])}{' …' if len(hosts) > _NAMED else ''}"
        return Setting(told, str(levels[0]) if levels else str(Level.NONE), notes)

    def events(
        self, order: Order, works: Iterable[Work], found: Found, stopped: Callable[[], bool]
    ) -> Iterator[Event]:
        """Have jobs done, and tell what happens as it is heard.

        Raises:
            EngineError: The scheduler is gone, or no worker is left that may judge.
        """
        run = secrets.token_hex(8)
        inbox = self._inboxes[run] = queue.SimpleQueue()
        sending = Sending(self._client, self.members, order, run, inbox)
        flights = Flights(self, sending, found, stopped)
        try:
            yield from flights.flown(iter(works), inbox)
        finally:
            flights.cancel()
            del self._inboxes[run]

    @property
    def lost(self) -> bool:
        """Whether the scheduler is gone."""
        return self._client.status != "running"

    def gone(self) -> EngineError:
        """What is told then."""
        return EngineError(
            f"the scheduler at {self._where or 'this machine'} is gone.",
            hint="What was found is kept: the same command goes on from there once a scheduler is up.",
        )

    def _heard(self, event: tuple[float, bytes]) -> None:
        """An event of any run, in the connection's own thread."""
        with suppress(msgspec.MsgspecError, KeyError):
            message = remote.read_message(event[1])
            self._inboxes[message.run].put(message)
