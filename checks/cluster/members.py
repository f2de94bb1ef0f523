"""The workers of a cluster: who they are, what they have, and who of them may judge."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec
from distributed import Client

from judge_tui.checks.backends import Backend, Device, Name
from judge_tui.checks.cluster import remote
from judge_tui.checks.cluster.facts import Facts, read_facts, refusal
from judge_tui.checks.errors import EngineError
from judge_tui.checks.jobs.job import stamp

__all__ = ["Members"]

#: Seconds between two looks at who is there.
_LOOK_S = 1.0
#: Seconds that a cluster without any worker is waited for.
PATIENCE_S = 30.0
#: Seconds after which it is said that one is waited for.
_SILENT_S = 3.0


class Members:
    """Workers that may judge.

    Args:
        client: The connection.
        trust: Whether a worker without a full sandbox may.
        warn: Told a sentence of each that may not.
    """

    def __init__(self, client: Client, *, trust: bool, warn: Callable[[str], None]) -> None:
        self._client, self._trust, self._warn = client, trust, warn
        self._lock = threading.Lock()
        self._admitted: dict[str, Facts] = {}
        self._barred: set[str] = set()
        self._threads: dict[str, int] = {}
        self._told: set[str] = set()
        self._gone = 0
        self._left = threading.Event()

    def follow(self) -> None:
        """See from now on who has come and gone, every second, until they are left."""
        threading.Thread(target=self._follow, daemon=True, name="judge-tui-members").start()

    def leave(self) -> None:
        """Look at nobody any more."""
        self._left.set()

    def _follow(self) -> None:
        while not self._left.wait(_LOOK_S):
            # a scheduler that is gone is told by whoever waits for a job
            with suppress(Exception):
                self.look()

    @property
    def admitted(self) -> dict[str, Facts]:
        """Address → who may judge."""
        return dict(self._admitted)

    @property
    def threads(self) -> int:
        """Jobs that they can do at once."""
        return sum(self._threads.get(address, 1) for address in self.admitted)

    def having(self, backend: str) -> list[str]:
        """Addresses of those that have a backend."""
        return [where for where, one in self.admitted.items() if one.backends[backend].devices]

    def look(self) -> None:
        """See who has come and gone; who is new is asked what it is."""
        with self._lock:
            there = self._threads = dict(self._client.nthreads())
            for gone in self._admitted.keys() - there.keys():
                known = self._admitted.pop(gone)
                self._gone += 1
                if not self._left.is_set():
                    self._say(f"the worker at {gone} ({known.host}) is gone: what it was at goes to others.")
            self._barred &= there.keys()
            new = [where for where in there if where not in self._admitted and where not in self._barred]
            if new:
                self._ask(new)

    def _ask(self, new: Iterable[str]) -> None:
        answers = self._client.run(remote.facts, workers=list(new), on_error="return")
        for where, told in answers.items():
            if isinstance(told, OSError):
                # it cannot be reached now: gone, or asked again at the next look
                continue
            why, found = _read(told, self._trust)
            if why or found is None:
                self._bar(where, found, why)
                continue
            self._admitted[where] = found
            known = {tool for one in self._admitted.values() for tool in one.toolchains}
            for tool in sorted(known - {*found.toolchains}):
                lack = f"has no {tool}: what takes it is skipped there"
                self._say(f"the worker at {where} ({found.host}) {lack}.")

    def bar(self, where: str, why: str) -> None:
        """Give a worker no more to do, and say why."""
        with self._lock:
            self._bar(where, self._admitted.get(where), why)

    def _bar(self, where: str, known: Facts | None, why: str) -> None:
        self._barred.add(where)
        self._admitted.pop(where, None)
        named = f"{where} ({known.host})" if known is not None else where
        self._say(f"the worker at {named} judges nothing: {why}.")

    def _say(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._warn(sentence)

    def wait(self, backend: str = "", stopped: Callable[[], bool] = lambda: False) -> None:
        """Wait until some worker may judge.

        Args:
            backend: One that it has to have; any where nothing is said.
            stopped: Whether nobody wants it any more.

        Raises:
            EngineError: None comes, or none that may.
        """
        begun = time.monotonic()
        while not stopped():
            with suppress(OSError):
                self.look()
            if self.having(backend) if backend else self._admitted:
                return
            waited = time.monotonic() - begun
            if self._barred or waited > PATIENCE_S:
                # those that were refused do not change their minds
                raise self._nobody()
            if waited > _SILENT_S:
                self._say(
                    f"no worker that may judge is there: one is waited for, {PATIENCE_S:.0f} s at most."
                )
            time.sleep(_LOOK_S / 5)

    def _nobody(self) -> EngineError:
        why, hint = "none has come", "Start some: dask worker ADDRESS."
        if self._barred:
            why, hint = f"{len(self._barred)} refused", "Restart those after an upgrade, or start others."
        elif self._gone:
            why = f"{self._gone} gone, and no other has come"
        return EngineError(
            f"the cluster has no worker that may judge: {why}.", hint=f"{hint} What has been found is kept."
        )

    def backend(self, name: str) -> Backend:
        """A backend as the workers have it together."""
        offered = [one.backends[name] for one in self.admitted.values() if name in one.backends]
        devices: list[Device] = [device for each in offered for device in each.devices]
        arrays = next((each.arrays for each in offered if each.devices), "numpy")
        without = offered[0] if offered else None
        named: Name = name  # type: ignore[assignment]
        if devices or without is None:
            return Backend(named, tuple(devices), "no worker is there", "Start one: dask worker.", arrays)
        return Backend(named, (), f"of no worker: {without.reason}", without.hint, without.arrays)


def _read(told: object, trust: bool) -> tuple[str, Facts | None]:
    """Why a worker may not judge, and what it is."""
    if isinstance(told, ImportError):
        return f"judge-tui with its checks cannot be imported there ({told})", None
    if not isinstance(told, bytes):
        return f"it does not say what it is ({type(told).__name__}: {told})", None
    try:
        found = read_facts(told)
    except msgspec.MsgspecError:
        return "it is of another version of judge-tui", None
    return refusal(found, stamp(), trust=trust), found
