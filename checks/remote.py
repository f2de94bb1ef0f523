"""The trusted side of a worker: start it, load a submission, call it, fetch bytes.

The worker is untrusted from the first file that it loads. Shapes and dtypes come from
the caller, never from a reply; a reply's descriptions serve binding and evidence.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from judge_tui.checks import sandbox
from judge_tui.checks.errors import EngineError
from judge_tui.checks.faults import BadResult, Died, Raised, TimedOut
from judge_tui.checks.handover import (
    Buffer,
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
from judge_tui.checks.submission import Submission
from judge_tui.checks.worker import wire

__all__ = [
    "Call",
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

_FOREVER = 1e6
#: Characters of what was printed that go with an exception.
_KEPT = 8000


@dataclass(frozen=True, slots=True)
class Result:
    """What a call gave, as the worker describes it.

    Attributes:
        handle: The result itself.
        tree: Its description; untrusted.
        counters: What the worker counted; untrusted.
        printed: What the submission printed, at most 64 KiB.
        seconds: Wall time on the trusted side's clock.
    """

    handle: Handle
    tree: Mapping[str, Any]
    counters: Mapping[str, Any] = field(default_factory=dict)
    printed: str = ""
    seconds: float = 0.0


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


class Worker:
    """One sandboxed process that holds one submission.

    Args:
        submission: What it will hold.
        limits: Resource limits.
        mode: How it is confined, as in :func:`judge_tui.checks.sandbox.launch`.
        start_budget: Seconds until it must have said hello.

    Attributes:
        loaded: File → inventory of what was imported.
        deadline: When, on the monotonic clock, the process is stopped whatever budget a request has.

    Raises:
        EngineError: The process does not start.
    """

    def __init__(
        self,
        submission: Submission,
        *,
        limits: sandbox.Limits | None = None,
        mode: sandbox.Mode = "auto",
        start_budget: float = 30.0,
    ) -> None:
        self.submission = submission
        self.deadline = float("inf")
        self.loaded: dict[str, dict[str, Any]] = {}
        self._numbers = itertools.count(1)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._control = ours
        with contextlib.ExitStack() as undo, theirs:
            undo.callback(ours.close)
            self.jail = sandbox.launch(
                submission.path,
                adapter=submission.adapter,
                control=theirs,
                limits=limits or sandbox.Limits(),
                mode=mode,
            )
            undo.pop_all()
        try:
            self.facts: Mapping[str, Any] = self._receive(start_budget)
        except (Died, TimedOut, BadResult) as fault:
            said = self.jail.output().strip()
            self.close()
            raise EngineError(f"the worker did not start: {fault.message}", hint=said[-500:]) from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process and everything that it started."""
        self.jail.kill()
        self._control.close()

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

    def run_script(self, file: str, *, budget: float = 60.0) -> Result:
        """Run a file as ``__main__``; a zero exit status is a success.

        Raises:
            Fault: It raised, ended with another status, hung or died.
        """
        started = time.perf_counter()
        reply = self._request({"op": "script", "file": file}, budget)
        return Result(Handle(0), {}, {}, str(reply.get("printed", "")), time.perf_counter() - started)

    def ask(self, op: str, *, budget: float = 20.0, **body: Any) -> Mapping[str, Any]:
        """One request of plain data.

        Args:
            op: Name of the worker's operation.
            budget: Seconds until the process is killed.
            body: What goes with it.

        Returns:
            The reply; untrusted.

        Raises:
            Fault: It raised, hung or ended the process.
        """
        return self._request({"op": op, **body}, budget)

    def put(self, value: Any, *, budget: float = 20.0) -> Handle:
        """Keep a value in the worker; arrays are handed over as fresh, writable, C-contiguous copies."""
        keep = next(self._numbers)
        with Packer() as pack:
            self._request({"op": "put", "keep": keep, "value": pack(value)}, budget, pack.fds)
        return Handle(keep)

    def drop(self, *handles: Handle) -> None:
        """Forget kept objects."""
        self._request({"op": "drop", "handles": [handle.id for handle in handles]}, 20.0)

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

        Raises:
            Raised: An exception left the submission.
            TimedOut: The budget ran out.
            Died: The process ended.
        """
        keep = next(self._numbers)
        with Packer() as pack:
            body = {
                "op": "call", "keep": keep, "target": pack(target), "method": method,
                "args": [pack(value) for value in args],
                "kwargs": {name: pack(value) for name, value in (kwargs or {}).items()},
                "memory": memory, "count": count, "each": dict(each or {}),
                "patches": [[pack(owner), attribute, pack(value)] for owner, attribute, value in patches],
            }  # fmt: skip
            started = time.perf_counter()
            reply = self._request(body, budget, pack.fds)
            seconds = time.perf_counter() - started
        counters = reply.get("counters")
        return Result(
            Handle(keep),
            _mapping(reply.get("tree")),
            _mapping(counters),
            str(reply.get("printed", "")),
            seconds,
        )

    def series(self, calls: Sequence[Call], times: int, *, budget: float = 20.0) -> tuple[int, Raised | None]:
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
        ended = _raised(reply["ended"], reply) if "ended" in reply else None
        return done if isinstance(done, int) else 0, ended

    def slot(self) -> Handle:
        """A handle that stands for nothing yet: the result of a call of a series."""
        return Handle(next(self._numbers))

    def set(self, target: Target | Handle, name: str, value: Any) -> None:
        """Set an attribute of a kept object, or patch a module or class of the submission."""
        with Packer() as pack:
            body = {"op": "set", "target": pack(target), "name": name, "value": pack(value)}
            self._request(body, 20.0, pack.fds)

    def describe(self, handle: Handle) -> Mapping[str, Any]:
        """The tree of a kept object as it is now."""
        with Packer() as pack:
            return _mapping(self._request({"op": "describe", "of": pack(handle)}, 20.0).get("tree"))

    def leaves(self, handle: Handle, inputs: Mapping[str, Handle] | None = None) -> list[Mapping[str, Any]]:
        """Arrays and scalars under an object: ``path``, ``kind``, ``shape``, ``dtype``, ``nbytes``, ….

        Args:
            handle: The object.
            inputs: Named arrays; an entry's ``inputs`` names those that it shares memory with.
        """
        with Packer() as pack:
            named = {name: pack(value) for name, value in (inputs or {}).items()}
            reply = self._request({"op": "leaves", "of": pack(handle), "inputs": named}, 30.0)
        found = reply.get("leaves")
        return [_mapping(entry) for entry in found] if isinstance(found, list) else []

    def poisoned(self, handle: Handle, path: Steps) -> Handle:
        """A copy of an object with the part at ``path`` replaced by NaN (integers: a huge value)."""
        return self._replace(handle, path, poison=True)

    def perturbed(self, handle: Handle, path: Steps, *, scale: float, shift: float) -> Handle:
        """A copy of an object whose part at ``path`` is ``part * scale + shift``."""
        return self._replace(handle, path, scale=scale, shift=shift, value=None)

    def footprint(self, handle: Handle) -> int:
        """Bytes of the arrays and floats that an object keeps; what several views share counts once."""
        with Packer() as pack:
            told = self._request({"op": "footprint", "of": pack(handle)}, 30.0).get("bytes")
        return told if isinstance(told, int) else 0

    def fill(self, handle: Handle, value: float | npt.NDArray[Any] | list[Any] | None = None) -> None:
        """Overwrite a kept array or list in place, seen through every view of it.

        Args:
            handle: The array.
            value: What to write; NaN (integers: a huge value) when left out.
        """
        with Packer() as pack:
            self._request({"op": "fill", "of": pack(handle), "value": pack(value)}, 20.0, pack.fds)

    def substituted(self, handle: Handle, path: Steps, value: Any) -> Handle:
        """A copy of an object whose part at ``path`` is ``value``."""
        return self._replace(handle, path, value=value)

    def copied(self, handle: Handle) -> Handle:
        """A deep copy of an object."""
        keep = next(self._numbers)
        with Packer() as pack:
            self._request({"op": "copy", "keep": keep, "of": pack(handle)}, 20.0)
        return Handle(keep)

    def _replace(self, handle: Handle, path: Steps, *, value: Any = None, **how: Any) -> Handle:
        keep = next(self._numbers)
        with Packer() as pack:
            body = {
                "op": "replace",
                "keep": keep,
                "of": pack(handle),
                "path": [list(step) for step in path],
                "value": pack(value),
                **how,
            }
            self._request(body, 30.0, pack.fds)
        return Handle(keep)

    def fetch(
        self, handle: Handle, shape: Sequence[int], dtype: npt.DTypeLike = np.float64, *, loose: bool = False
    ) -> npt.NDArray[Any]:
        """Copy an array out.

        Args:
            handle: Where it is.
            shape: The shape that the contract asks for.
            dtype: Wire dtype: ``float64`` for floating point (exact for narrower types), ``int64``, ``bool``.
            loose: Whether axes of length one do not matter.

        Returns:
            A private copy; the worker cannot change it any more.

        Raises:
            BadResult: Not an array of numbers of that shape, or bytes that were never written.
        """
        with Buffer(shape, np.dtype(dtype)) as out, Packer() as pack:
            body = {
                "op": "fetch",
                "of": pack(handle),
                "shape": out.shape,
                "dtype": out.dtype.str,
                "loose": loose,
            }
            self._request(body, 60.0, (out.fd,))
            return out.array()

    def value(self, handle: Handle) -> Any:
        """Plain data of an object: numbers, texts, lists and dicts."""
        with Packer() as pack:
            return self._request({"op": "value", "of": pack(handle)}, 30.0).get("value")

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.jail.poll() is None

    def _request(self, body: Mapping[str, Any], budget: float, fds: Sequence[int] = ()) -> dict[str, Any]:
        left = self.deadline - time.monotonic()
        if min(budget, left) <= 0:
            self.close()
            raise TimedOut("used up the time of the check")
        try:
            # A stopped worker must not hold a large request up for ever.
            self._control.settimeout(min(budget, left) if min(budget, left) < _FOREVER else None)
            wire.send(self._control, body, tuple(fds))
        except TimeoutError as error:
            self.close()
            raise TimedOut("took nothing more in") from error
        except OSError as error:
            raise self._gone() from error
        reply = self._receive(budget)
        if "raised" in reply:
            raise _raised(reply["raised"], reply)
        if "bad" in reply:
            raise BadResult(f"answered with {reply['bad']}")
        return reply

    def _receive(self, budget: float) -> dict[str, Any]:
        deadline = time.monotonic() + budget
        try:
            reply = _Deadlined(self._control, min(deadline, self.deadline)).frame()
        except TimeoutError as error:
            self.close()
            if deadline > self.deadline:
                raise TimedOut("used up the time of the check") from error
            raise TimedOut(f"took longer than its budget of {budget:.3g} s") from error
        except (EOFError, OSError) as error:
            raise self._gone() from error
        except ValueError as error:
            self.close()
            raise BadResult(str(error)) from error
        if not isinstance(reply, dict):
            self.close()
            raise BadResult("the worker's reply is malformed")
        return reply

    def _gone(self) -> Died:
        for _ in range(50):
            if self.jail.poll() is not None:
                break
            time.sleep(0.01)
        clause = self.jail.ended() if not self.alive else "closed its connection"
        output = self.jail.output()
        self.close()
        return Died(clause, output=output[-4000:])


class _Deadlined:
    """A socket whose every read honours one deadline (duck-typed for :func:`wire.receive`)."""

    def __init__(self, control: socket.socket, deadline: float) -> None:
        self._control = control
        self._deadline = deadline

    def frame(self) -> Any:
        return wire.receive(self)[0]  # type: ignore[arg-type]

    def recv(self, count: int) -> bytes:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._control.settimeout(left)
        try:
            return self._control.recv(count)
        finally:
            with contextlib.suppress(OSError):
                self._control.settimeout(None)


def _raised(value: Any, reply: Mapping[str, Any]) -> Raised:
    told = _mapping(value)
    line = told.get("line")
    file = told.get("file")
    return Raised(
        str(told.get("type", "")), str(told.get("message", "")),
        file=file if isinstance(file, str) else None, line=line if isinstance(line, int) else None,
        output=f"{str(reply.get('printed', ''))[-_KEPT:]}\n{told.get('traceback', '')}".strip(),
    )  # fmt: skip


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
