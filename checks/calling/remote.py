"""The trusted side of a worker: load a submission, call it, keep what it gives.

``connection`` starts the process and talks with it, ``kept`` handles the objects that it keeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_tui.checks import sandbox
from judge_tui.checks.backends import Place
from judge_tui.checks.calling.connection import mapping, raised
from judge_tui.checks.calling.handover import (
    Carried,
    Context,
    Handle,
    Nested,
    NumpyType,
    Packer,
    Random,
    Scripted,
    Steps,
    Target,
)
from judge_tui.checks.calling.kept import KeptObjects
from judge_tui.checks.faults import Fault
from judge_tui.checks.submission import Submission

__all__ = [
    "Call",
    "Carried",
    "Context",
    "Handle",
    "Nested",
    "NumpyType",
    "Random",
    "Result",
    "Scripted",
    "Steps",
    "Target",
    "Worker",
]

_CPU = Place()


@dataclass(frozen=True, slots=True)
class Result:
    """What a call gave, as the worker describes it.

    Attributes:
        handle: The result itself.
        tree: Its description; untrusted.
        counters: What the worker counted; untrusted.
        printed: What the submission printed, at most 64 KiB.
        seconds: Wall time on the trusted side's clock.
        own_seconds: The same without what it waited for a processor (see :mod:`.own_time`).
    """

    handle: Handle
    tree: Mapping[str, Any]
    counters: Mapping[str, Any] = field(default_factory=dict)
    printed: str = ""
    seconds: float = 0.0
    own_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a series.

    Attributes:
        target: What is called, or the object whose ``method`` is called.
        result: Under what its result is kept; see :meth:`Worker.slot`.
        args: Positional arguments, as in :meth:`Worker.call`.
        kwargs: Keyword arguments.
        method: Name of a method of ``target``.
    """

    target: Target | Handle
    result: Handle
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""


class Worker(KeptObjects):
    """One sandboxed process that holds one submission; see :class:`.connection.Connection`.

    Attributes:
        loaded: File → inventory of what was imported.
        seeded: What its random generators are seeded with before each call of a function or class by name.
    """

    def __init__(
        self,
        submission: Submission,
        *,
        limits: sandbox.Limits | None = None,
        mode: sandbox.Mode = "auto",
        start_budget: float = 30.0,
        place: Place = _CPU,
        refused: Callable[[Fault], None] | None = None,
        packages: tuple[str, ...] = (),
        hashes: int = 0,
    ) -> None:
        self.loaded: dict[str, dict[str, Any]] = {}
        self.seeded: int | None = None
        super().__init__(
            submission, limits=limits, mode=mode, start_budget=start_budget, place=place, refused=refused,
            packages=packages, hashes=hashes,
        )  # fmt: skip

    def load(self, file: str, *, budget: float = 30.0) -> Mapping[str, Any]:
        """Import one file of the submission, once.

        Args:
            file: Relative path.
            budget: Seconds.

        Returns:
            The inventory: ``functions``, ``classes``, ``objects``, ``missing`` (see ``worker/describe.py``).

        Raises:
            Fault: The import raised, hung or ended the process.
        """
        if file not in self.loaded:
            reply = self._request({"op": "load", "file": file}, budget)
            self.loaded[file] = reply
        return self.loaded[file]

    def edit(self, file: str, source: str) -> None:
        """Forget everything that is loaded and kept, and go on as if a file held another source.

        Args:
            file: Relative path of one of the submission's files.
            source: What it is taken to hold; it is compiled when it is loaded.
        """
        self.loaded.clear()
        self.ask("edited", file=file, source=source)

    def run_script(self, file: str, *, budget: float = 60.0) -> Result:
        """Run a file as ``__main__``; a zero exit status is a success.

        Raises:
            Fault: It raised, ended with another status, hung or died.
        """
        started = time.perf_counter()
        reply = self._request({"op": "script", "file": file}, budget)
        return Result(Handle(0), {}, {}, str(reply.get("printed", "")), time.perf_counter() - started)

    def call(
        self,
        target: Target | Handle,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        method: str = "",
        budget: float = 20.0,
        memory: bool = False,
        count: bool = False,
        patches: Sequence[tuple[Target, str, Any]] = (),
        each: Mapping[str, Any] | None = None,
        answers: Sequence[Steps | Handle] = (),
    ) -> Result:
        """Call a function, a class or a method.

        Args:
            target: What is called, or the object whose ``method`` is called.
            args: Positional arguments: arrays, plain values, handles, :class:`Nested`, :class:`NumpyType`,
                :class:`Scripted`, tuples and lists of them.
            kwargs: Keyword arguments.
            method: Name of a method of ``target``.
            budget: Seconds until the process is killed.
            memory: Trace allocations; the result's counters then hold ``peak_bytes``.
            count: Hand arrays over as counting ones; see ``worker/namespace.py`` for the counters.
            patches: Attributes ``(module or class, name, value)`` that are replaced while the call lasts.
            each: ``args`` (positions), ``kwargs`` (names) and ``leading`` (sizes): call once per index of the
                leading axes of these arguments, and stack the results (see ``worker/each.py``).
            answers: Parts of the result, and of other objects, that are the answer: they are taken while
                the call is timed, traced and counted (see ``worker/answers.py``).

        Raises:
            Raised: An exception left the submission.
            TimedOut: The budget ran out.
            Died: The process ended.
        """
        keep = next(self._numbers)
        wanted = [each if isinstance(each, Handle) else Handle(keep, each) for each in answers]
        with Packer() as pack:
            body = {
                "op": "call", "keep": keep, "target": pack(target), "method": method,
                "args": [pack(value) for value in args],
                "kwargs": {name: pack(value) for name, value in (kwargs or {}).items()},
                "memory": memory, "count": count, "each": dict(each or {}),
                "answers": [pack(handle) for handle in wanted],
                "patches": [[pack(owner), attribute, pack(value)] for owner, attribute, value in patches],
            }  # fmt: skip
            if self.seeded is not None and isinstance(target, Target):
                body["seeded"] = self.seeded
            started = time.perf_counter()
            reply = self._request(body, budget, pack.fds)
            seconds = time.perf_counter() - started
        counters, tree = reply.get("counters"), mapping(reply.get("tree"))
        self._gave = keep, tree
        return Result(
            Handle(keep),
            tree,
            mapping(counters),
            str(reply.get("printed", "")),
            seconds,
            self.took,
        )

    def series(self, calls: Sequence[Call], times: int, *, budget: float = 20.0) -> tuple[int, Fault | None]:
        """Make calls one after another, over and over, with one request.

        Args:
            calls: What is called; arguments may be the results of calls that stand before.
            times: How often.
            budget: Seconds until the process is killed.

        Returns:
            How many times all of them were made, and the exception that ended it, if any.

        Raises:
            TimedOut: The budget ran out.
            Died: The process ended.
        """
        with Packer() as pack:
            body = {
                "op": "series", "times": times,
                "calls": [
                    {
                        "target": pack(call.target), "method": call.method, "keep": call.result.id,
                        "args": [pack(value) for value in call.args],
                        "kwargs": {name: pack(value) for name, value in call.kwargs.items()},
                    }
                    for call in calls
                ],
            }  # fmt: skip
            reply = self._request(body, budget, pack.fds)
        done = reply.get("done")
        ended = raised(reply["ended"], reply, gpu=self.place.gpu) if "ended" in reply else None
        return done if isinstance(done, int) else 0, ended
