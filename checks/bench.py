"""The bench that a check works on: one submission, its worker, its bindings, seeded inputs, a clock."""

from __future__ import annotations

import contextlib
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from judge_tui.checks.answers import Answers
from judge_tui.checks.backends import Place
from judge_tui.checks.binding import binder
from judge_tui.checks.binding.binder import Bindings, Casualties
from judge_tui.checks.binding.rivals import rival_of
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned, invoke
from judge_tui.checks.calling.own_time import Account
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Contract
from judge_tui.checks.errors import EngineError, WorkspaceError
from judge_tui.checks.faults import Died, Fault, Skipped
from judge_tui.checks.joined import Condition
from judge_tui.checks.sandbox import Limits, Mode
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.source_conditions import conditions
from judge_tui.checks.source_integers import Integer, integers, products
from judge_tui.checks.sources import unjudgeable
from judge_tui.checks.submission import Submission

__all__ = ["Bench", "Closeable"]

_MOST_CASUALTIES = 8
_CPU = Place()
#: How many orders of sets there are.
_HASHES = 1024
#: Few descriptors: a pipe keeps what no process is seen to hold.
_COUNTED = Limits(file_size=0, open_files=64, counted=True)


class Closeable(Protocol):
    """Something that has an end."""

    def close(self) -> None:
        """End it."""


_Kept = TypeVar("_Kept", bound=Closeable)


class Bench:
    """What a check is given.

    Args:
        submission: What is judged: a snapshot of it.
        contract: The task's contract.
        seed: Replays every input.
        mode: How workers are confined.
        progress: Told ``(note, fraction)`` as a check goes on.
        place: Where its workers compute.
        binds: The bench whose bindings stand, so that what is called on a GPU is what is called on the CPU.
        without: Files in which no role is looked for.

    Attributes:
        place: Where its workers compute; may be set until the first one starts.
        without: Files in which no role is looked for.
        trouble: Why nothing can be judged on this machine now; no check may say anything then.
        refusals: What left the submission as an exception during the running check, where ``place`` is a GPU.
        check: Id of the running check.
        budget: Its seconds.
        answers: Those of the running check, by whether they are right.
    """

    def __init__(
        self,
        submission: Submission,
        contract: Contract,
        *,
        seed: int,
        mode: Mode = "auto",
        progress: Callable[[str, float | None], None] = lambda note, fraction: None,
        place: Place = _CPU,
        binds: Bench | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.submission = submission
        self.without = without
        self.trouble: EngineError | None = None
        try:
            self.submission = submission.held
        except WorkspaceError:
            # there is nothing that a worker could be shown, and the checks say why
            pass
        except EngineError as error:
            self.trouble = error
        self.contract = contract
        self.seed = seed
        self.mode = mode
        self.progress = progress
        self.place = place
        self._binds = binds
        self.refusals: list[Fault] = []
        self._worker: Worker | None = None
        self._running: set[Worker] = set()
        self._rival: Bench | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self._bindings: Bindings | Fault | WorkspaceError | None = None
        self._casualties = Casualties()
        self._beside: dict[Any, Closeable] = {}
        self._account = Account()
        self.check = ""
        self.budget = float("inf")
        self.answers = Answers()

    def begin(self, check: str, budget: float) -> None:
        """Start the clock of a check; its inputs are drawn from the seed and its id."""
        self.check = check
        self.budget = budget
        self.refusals.clear()
        self.answers = Answers()
        self._account = Account(budget)
        if self._worker is not None and self._worker.processor_left < budget:
            # What earlier checks used up must not end this one.
            self._end_worker()
        if self._worker is not None:
            self._worker.account = self._account

    def close(self) -> None:
        """Kill the worker, and what checks and the contract have of their own beside it."""
        self._end_worker()
        beside, self._beside = self._beside, {}
        for each in beside.values():
            each.close()
        if self._rival is not None:
            self._rival.close()
        self.contract.leave()

    def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._end(worker)

    def beside(self, key: Any, make: Callable[[], _Kept]) -> _Kept:
        """What several checks work on beside the shared worker, closed with the bench.

        Args:
            key: What it is kept by.
            make: Makes it where it is not there.
        """
        if key not in self._beside:
            self._beside[key] = make()
        kept: Any = self._beside[key]
        return kept  # type: ignore[no-any-return]

    def stop(self) -> None:
        """Kill every worker and start none any more; for another thread than the one that judges."""
        with self._lock:
            self._stopped = True
            workers = tuple(self._running)
        for worker in workers:
            worker.close()
        if self._rival is not None:
            self._rival.stop()

    @property
    def stopped(self) -> bool:
        """Whether nothing is started any more: a check that runs programs one after another ends then."""
        return self._stopped

    @property
    def rival(self) -> Bench | None:
        """A bench for a second complete solution beside the one that is bound; see :mod:`.binding.rivals`."""
        known = self.known_bindings
        if (
            self._rival is None
            and known is not None
            and not (self.without or self.place.gpu or self._stopped)
        ):
            if beside := rival_of(known, self.contract):
                self._rival = Bench(
                    self.submission, self.contract, seed=self.seed, mode=self.mode, place=self.place,
                    without=frozenset(beside),
                )  # fmt: skip
        return self._rival

    @property
    def backend(self) -> str:
        """Name of the backend that its workers compute on."""
        return self.place.backend

    @property
    def left(self) -> float:
        """Seconds left of the running check's budget, in the submission's own time."""
        return self._account.left

    def rng(self, *names: str | int) -> np.random.Generator:
        """A generator that depends on the seed, the check and ``names`` alone, not on the submission."""
        words = [zlib.crc32(str(name).encode()) for name in (self.check, *names)]
        return np.random.default_rng([self.seed, *words])

    @cached_property
    def hashes(self) -> int:
        """What hashes of texts hang on in all that is started; of so few that none tells the seed."""
        return int(np.random.default_rng([self.seed, zlib.crc32(b"hashes")]).integers(1, _HASHES))

    def sizes(self, *names: str | int) -> Sizes:
        """What draws sizes of inputs; depends on the same as :meth:`rng`."""
        return Sizes(self.rng("sizes", *names))

    @cached_property
    def integers(self) -> tuple[Integer, ...]:
        """The integers of the submission's source, which steer some sizes."""
        return integers(self.submission)

    @cached_property
    def products(self) -> tuple[Integer, ...]:
        """Products of two integers of the source, about which paths may part where neither says so alone."""
        return products(self.submission)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the submission's source that name several sizes, which steer some as well."""
        return conditions(self.submission)

    @property
    def worker(self) -> Worker:
        """The shared worker; a new one when the last one died."""
        if self._worker is None or not self._worker.alive:
            self._end_worker()
            self._worker = self._started()
        return self._worker

    def renewed(self) -> Worker:
        """The shared worker, started anew: nothing is loaded in it."""
        self._end_worker()
        return self.worker

    def taking_over(self, other: Bench) -> None:
        """Go on with the shared worker of another bench, which has none from then on."""
        self._end_worker()
        worker, other._worker = other._worker, None
        if worker is not None:
            with self._lock, other._lock:
                other._running.discard(worker)
                self._running.add(worker)
            worker.account = self._account
        self._worker = worker

    @contextlib.contextmanager
    def fresh(
        self, other: Submission | None = None, *, beyond: bool = False, counted: bool = False,
        limits: Limits | None = None, packages: tuple[str, ...] = (),
    ) -> Iterator[Worker]:  # fmt: skip
        """A worker of its own, for what must share no state with other checks or other draws.

        Args:
            other: What it holds in place of the submission, such as code that it is timed against.
            beyond: Whether it is asked for what lies beyond the contract: what CuPy lacks for that is no
                reason to hold the check against the CPU.
            counted: Whether all memory that it can have is to count as resident (see :mod:`.resident`).
            limits: Resource limits that are others than usual.
            packages: Installed packages that it may import instead of those of the contract.
        """
        chosen = _COUNTED if counted else limits
        worker = self._started(other, beyond=beyond, limits=chosen, packages=packages)
        try:
            yield worker
        finally:
            self._end(worker)

    def _started(
        self,
        other: Submission | None = None,
        *,
        beyond: bool = False,
        limits: Limits | None = None,
        packages: tuple[str, ...] = (),
    ) -> Worker:
        with self._lock:
            if self._stopped:
                raise Died("was stopped")
            asked = other is None and not beyond
            refused = self.refusals.append if asked and self.place.gpu else None
            worker = Worker(
                other or self.submission, limits=limits, mode=self.mode, place=self.place, refused=refused,
                packages=packages or tuple(sorted(self.contract.packages)), hashes=self.hashes,
            )  # fmt: skip
            self._running.add(worker)
        worker.account = self._account
        worker.seeded = self.contract.seeded
        return worker

    @contextlib.contextmanager
    def watched(self, worker: Worker) -> Iterator[Worker]:
        """Have a process that somebody else started end when everything is stopped, and with the block."""
        with self._lock:
            self._running.add(worker)
            stopped = self._stopped
        if stopped:
            worker.close()
        try:
            yield worker
        finally:
            self._end(worker)

    def _end(self, worker: Worker) -> None:
        worker.close()
        with self._lock:
            self._running.discard(worker)

    def load(self, file: str, *, budget: float = 30.0) -> Mapping[str, Any]:
        """Import a file of the submission in the shared worker; one that ended it is not tried again.

        Args:
            file: Relative path.
            budget: Seconds, at most what the check has left.

        Raises:
            Fault: The import raised, hung or ended the process.
        """
        if file in self._casualties.files:
            raise self._casualties.files[file]
        worker = self.worker
        try:
            return worker.load(file, budget=min(budget, self.left))
        except Fault as fault:
            if not worker.alive and self.left > 0:
                self._casualties.files[file] = fault
            raise

    @property
    def bindings(self) -> Bindings:
        """The roles that were found; the search runs once.

        Raises:
            Fault: An import or a probe ended the process, again and again.
            WorkspaceError: A written binding is malformed.
        """
        if self._binds is not None:
            self._binds.begin(self.check, self.left)
            found = self._binds.bindings
            # Checks look for more than roles in what the worker has loaded.
            for file in found.loaded:
                with contextlib.suppress(Fault):
                    self.load(file)
            return found
        if self._bindings is None:
            if nothing := unjudgeable(self.submission):
                raise Skipped(nothing)
            self._bindings = self._searched()
        if isinstance(self._bindings, Exception):
            raise self._bindings
        return self._bindings

    @property
    def known_bindings(self) -> Bindings | None:
        """The roles that were found, where they have been looked for."""
        if self._binds is not None:
            return self._binds.known_bindings
        return self._bindings if isinstance(self._bindings, Bindings) else None

    def _searched(self) -> Bindings | Fault | WorkspaceError:
        """Search, and search again without what ended the process."""
        while True:
            known = len(self._casualties)
            sample = self.contract.sample(np.random.default_rng(self.seed))
            try:
                return binder.bind(
                    self.worker, self.contract, sample, self._casualties,
                    without=self.without, seed=self.seed,
                )  # fmt: skip
            except WorkspaceError as error:
                return error
            except Fault as fault:
                if self.left <= 0 or self._stopped:
                    raise
                if len(self._casualties) == known or known > _MOST_CASUALTIES:
                    return fault

    @property
    def asked(self) -> Contract:
        """The contract by which the roles were found, where they were found another way."""
        return self.bindings.contract or self.contract

    def binding(self, role: str) -> Binding:
        """How a role is played.

        Raises:
            Unbound: Nothing was found.
        """
        return self.bindings[role]

    def call(
        self,
        role: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        worker: Worker | None = None,
        budget: float | None = None,
        memory: bool = False,
        count: bool = False,
        **named: Any,
    ) -> Returned:
        """Call a role by canonical names; see :func:`judge_tui.checks.calling.calls.invoke`.

        Args:
            role: The role.
            inputs: Canonical parameter → value; ``named`` adds to it.
            worker: Another worker than the shared one.
            budget: Seconds, at most what the check has left.

        Raises:
            Fault: Unbound, raised, hung or died.
        """
        binding = self.binding(role)
        seconds = self.left if budget is None else min(budget, self.left)
        return invoke(
            worker or self.worker,
            binding,
            {**(inputs or {}), **named},
            budget=seconds,
            memory=memory,
            count=count,
        )
