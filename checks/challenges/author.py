"""The author's side of a challenge: its code, in a jail of its own.

The jail holds the challenge's folder and every installed package, and no submission. What the author's code
does wrong is a :class:`~.challenge.ChallengeFault`; a package that it needs and that is missing is a skip.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from judge_tui.checks import sandbox
from judge_tui.checks.calling.handover import Carried, Random
from judge_tui.checks.calling.remote import Handle, Result, Target, Worker
from judge_tui.checks.challenges.challenge import NUMBERS, Challenge
from judge_tui.checks.challenges.written import Written
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Fault, Raised, Skipped, TimedOut
from judge_tui.checks.sandbox.packages import EVERY
from judge_tui.checks.submission import Submission
from judge_tui.checks.worker.border.codec import Encoder
from judge_tui.checks.worker.capture import CUT

__all__ = ["Author", "Authors", "crossing"]

_T = TypeVar("_T")
#: A reference may be slow where submissions are not: seconds of one call, at least.
_PATIENCE = 10.0
_LIMITS = sandbox.Limits(cpu_seconds=600)
#: Printed by one call at most.
_MUCH_MB = 10.0


def crossing(value: Any) -> Any:
    """A value as a worker is handed it: arrays, numbers and texts as they are, all else by value."""
    import numpy as np

    if value is None or isinstance(value, (bool, float, str, Handle, Random, Carried)):
        return value
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return value
    return Carried(Encoder().encode(value))


class Author:
    """The author's code in one process.

    Args:
        challenge: Whose.
        folder: A snapshot of its files.
        mode: How it is confined.
        hashes: What the hashes of texts hang on; without it they are the same in every run.

    Attributes:
        worker: The process.
    """

    def __init__(
        self, challenge: Challenge, folder: Submission, *, mode: sandbox.Mode = "auto", hashes: int = 0
    ) -> None:
        self.challenge = challenge
        self._folder = folder
        self.worker = Worker(folder, limits=_LIMITS, mode=mode, packages=EVERY, hashes=hashes)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.worker.alive

    def close(self) -> None:
        """End it."""
        self.worker.close()

    def loaded(self, file: str = NUMBERS) -> Mapping[str, Any]:
        """What a file of the challenge defines (see ``worker/describe.py``), imported once.

        Raises:
            ChallengeFault: It cannot be imported.
            Skipped: It needs a package that is not installed.
        """
        inventory = self._held(
            lambda: self.worker.load(file, budget=self.patience), f"{file} cannot be imported"
        )
        self._quiet(file, str(inventory.get("printed", "")))
        if missing := sorted(map(str, inventory.get("missing", ()))):
            names = " and ".join(missing)
            raise Skipped(
                f"the challenge itself needs {names}, which is not installed: pip install {missing[0]}"
            )
        return inventory

    @cached_property
    def written(self) -> Written:
        """The names of its ``challenge.py``."""
        return Written(self._folder.read_bytes(NUMBERS) if NUMBERS in self._folder.files else b"")

    @property
    def patience(self) -> float:
        """Seconds that one call may take."""
        return max(_PATIENCE, self.challenge.settings.limits.seconds)

    def call(
        self,
        name: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        file: str = NUMBERS,
        of: Callable[[Result], Handle] = lambda result: result.handle,
    ) -> Any:
        """What a function of the author's gives, by value.

        Args:
            name: The function.
            args: Positional arguments; :class:`Random` is a seeded generator.
            kwargs: Keyword arguments.
            file: The challenge's file that it is in.
            of: Which part of what it gives is wanted.

        Raises:
            ChallengeFault: It raised, never came back, or gives what is no value.
            Skipped: A package is missing.
        """
        self.loaded(file)

        def called() -> Any:
            result = self.worker.call(
                Target(file, name),
                [crossing(value) for value in args],
                {key: crossing(value) for key, value in (kwargs or {}).items()},
                budget=self.patience,
            )
            value = self.worker.carried(of(result))
            self.worker.drop(result.handle)
            self._quiet(name, result.printed)
            return value

        return self._held(called, name)

    def _quiet(self, what: str, printed: str) -> None:
        """Refuse what prints so much that its author cannot want it; each call takes its time.

        Raises:
            ChallengeFault: It does.
        """
        if (cut := CUT.search(printed)) and float(cut[1]) > _MUCH_MB:
            raise self.fault(f"{what} prints {float(cut[1]):,.0f} MB, which nobody reads")

    def constant(self, name: str, default: Any, *, file: str = NUMBERS) -> Any:
        """A constant of the author's, or a default where there is none of that name.

        Raises:
            ChallengeFault: It does not cross by value.
        """
        self.loaded(file)

        def looked_up() -> Any:
            try:
                return self.worker.carried(Target(file, name))
            except Raised as fault:
                if fault.kind == "AttributeError" and not fault.file:
                    return default
                raise

        return self._held(looked_up, name)

    def yielded(self, name: str, args: Sequence[Any], *, most: int = 1000) -> Iterator[Handle]:
        """What a generator function of the author's yields, item by item, as objects of its process.

        Raises:
            ChallengeFault: It raised, never came back, or yields without end.
        """
        self.loaded()
        worker, budget = self.worker, self.patience

        def begun() -> Handle:
            made = worker.call(Target(NUMBERS, name), [crossing(value) for value in args], budget=budget)
            return worker.call(made.handle, method="__iter__", budget=budget).handle

        def following() -> Handle | None:
            try:
                return worker.call(items, method="__next__", budget=budget).handle
            except Raised as fault:
                if fault.kind == "StopIteration" and not fault.file:
                    return None
                raise

        items = self._held(begun, name)
        for _ in range(most):
            if (item := self._held(following, name)) is None:
                return
            yield item
        raise self.fault(f"{name} yields more than {most} items")

    def value(self, handle: Handle, what: str) -> Any:
        """An object of its process, by value.

        Args:
            handle: Where it is.
            what: What it is, for the message.
        """
        return self._held(lambda: self.worker.carried(handle), what)

    def _held(self, ask: Callable[[], _T], what: str) -> _T:
        """An answer of the author's code, or its fault."""
        try:
            return ask()
        except Skipped:
            raise
        except Raised as fault:
            raise self.fault(f"{what}: {fault.message}", fault) from fault
        except TimedOut as fault:
            raise self.fault(f"{what} did not come back within {self.patience:.3g} s", fault) from fault
        except Fault as fault:
            raise self.fault(f"{what} {fault.message}", fault) from fault

    def fault(self, message: str, fault: Fault | None = None, *, line: int | None = None) -> ChallengeFault:
        """A fault of the challenge, with its place: where it was raised, else where what it is about stands.

        Args:
            message: A clause.
            fault: What the process met, if it did.
            line: In ``challenge.py``, where the clause does not name what it is about.
        """
        file, line = (fault.file, fault.line) if fault and fault.file else (None, line)
        if file is None:
            line = line or self.written.about(message)
            file = NUMBERS if line else None
        return ChallengeFault(f"{message}.", file=file, line=line, output=fault.output if fault else "")


class Authors:
    """Processes of one challenge's author, one per thread that asks: a process ends with its thread.

    Args:
        challenge: Whose.
        mode: How they are confined.
    """

    def __init__(self, challenge: Challenge, *, mode: sandbox.Mode = "auto") -> None:
        self.challenge = challenge
        self._mode: sandbox.Mode = mode
        self._here = threading.local()
        self._lock = threading.Lock()
        self._folder: Submission | None = None

    @property
    def folder(self) -> Submission:
        """A snapshot of the challenge's files, taken once: what is judged by does not change meanwhile."""
        with self._lock:
            if self._folder is None:
                self._folder = self.challenge.folder.held
            return self._folder

    def here(self) -> Author:
        """This thread's process, started where there is none that lives."""
        known: Author | None = getattr(self._here, "author", None)
        if known is None or not known.alive:
            known = self._here.author = Author(self.challenge, self.folder, mode=self._mode)
        return known

    def close(self) -> None:
        """End this thread's process."""
        known: Author | None = getattr(self._here, "author", None)
        if known is not None:
            known.close()
            self._here.author = None
