"""A worker's process and the conversation with it: one request, one reply, within a budget.

The worker is untrusted from the first file that it loads: a reply that is late, malformed or
missing is a fault of the submission.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from judge_tui.checks import sandbox
from judge_tui.checks.backends import Place
from judge_tui.checks.errors import EngineError
from judge_tui.checks.faults import BadResult, Died, Fault, NotPortable, Raised, TimedOut
from judge_tui.checks.submission import Submission
from judge_tui.checks.worker import wire

__all__ = ["Connection", "mapping", "raised"]

_FOREVER = 1e6
_CPU = Place()
_LONGEST_NAME = 200
#: Characters of what was printed that go with an exception.
_KEPT = 8000


class Connection:
    """One sandboxed process that holds one submission.

    Args:
        submission: What it will hold.
        limits: Resource limits.
        mode: How it is confined, as in :func:`judge_tui.checks.sandbox.launch`.
        start_budget: Seconds until it must have said hello.
        place: Where it computes. A worker on a GPU has no bound on its address space.
        refused: Told of every exception that leaves the submission.

    Attributes:
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
        place: Place = _CPU,
        refused: Callable[[Fault], None] | None = None,
    ) -> None:
        self.submission = submission
        self.place = place
        self._refused = refused
        self.deadline = float("inf")
        self._numbers = itertools.count(1)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._control = ours
        with contextlib.ExitStack() as undo, theirs:
            undo.callback(ours.close)
            self.jail = sandbox.launch(
                submission.path,
                adapter=submission.adapter,
                control=theirs,
                limits=limits or (sandbox.Limits(address_space=None) if place.gpu else sandbox.Limits()),
                mode=mode,
                gpu=place.gpu,
                device=place.device.id,
                arrays=place.arrays,
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

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.jail.poll() is None

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
        if "lost" in reply:
            self.close()
            raise Died(f"left the GPU in an error: {str(reply['lost'])[:_LONGEST_NAME]}")
        if "raised" in reply:
            fault = raised(reply["raised"], reply)
            if self._refused is not None:
                self._refused(fault)
            raise fault
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


def raised(value: Any, reply: Mapping[str, Any]) -> Raised | NotPortable:
    """The exception that a reply tells of; all of it from the untrusted side."""
    told = mapping(value)
    line, file = told.get("line"), told.get("file")
    where: dict[str, Any] = {
        "file": file if isinstance(file, str) else None,
        "line": line if isinstance(line, int) else None,
        "output": f"{str(reply.get('printed', ''))[-_KEPT:]}\n{told.get('traceback', '')}".strip(),
    }
    if lacking := told.get("lacking"):
        return NotPortable(str(lacking)[:_LONGEST_NAME], **where)
    return Raised(str(told.get("type", "")), str(told.get("message", "")), **where)


def mapping(value: Any) -> dict[str, Any]:
    """The part of a reply where it is a mapping; nothing where it is something else."""
    return value if isinstance(value, dict) else {}
