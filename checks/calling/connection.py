"""A worker's process and the conversation with it: one request, one reply, within a budget.

The worker is untrusted from the first file that it loads: a reply that is late, malformed or
missing is a fault of the submission. Budgets are seconds of its own time
(:mod:`~judge_tui.checks.calling.own_time`).
"""

from __future__ import annotations

import contextlib
import itertools
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

from judge_tui.checks import sandbox
from judge_tui.checks.backends import Place
from judge_tui.checks.calling.own_time import Account, Over, Processor, Turn
from judge_tui.checks.calling.replies import affordable, checked
from judge_tui.checks.errors import EngineError
from judge_tui.checks.faults import BadResult, Died, Fault, NotPortable, Raised, TimedOut
from judge_tui.checks.submission import Submission
from judge_tui.checks.worker import wire

__all__ = ["Connection", "mapping", "raised"]

_CPU = Place()
#: CUDA reserves address space without bound, and holds tens of files open per device of the machine.
_GPU_LIMITS = sandbox.Limits(address_space=None, open_files=1024)
_LONGEST_NAME = 200
#: Wall seconds that a process which closed its connection may take to end.
_LAST_SECONDS = 2.0
#: Characters of what was printed that go with an exception.
_KEPT = 8000
#: Bytes that are read at once where there are so many.
_AHEAD = 64 << 10
_T = TypeVar("_T")


class Connection:
    """One sandboxed process that holds one submission.

    Args:
        submission: What it will hold.
        limits: Resource limits.
        mode: How it is confined, as in :func:`judge_tui.checks.sandbox.launch`.
        start_budget: Seconds until it must be ready.
        place: Where it computes. A worker on a GPU has no bound on its address space.
        refused: Told of every exception that leaves the submission.
        packages: Installed packages that it may import beside NumPy.
        hashes: What the hashes of texts hang on, and with them the order of sets.

    Attributes:
        account: The time of the running check; requests draw on it, whatever their own budgets are.
        took: Seconds of own time that the last request took.
        waited: Seconds that the process waited for a processor meanwhile.
        witness: Told of every request before it is sent: its body and the descriptors that go with it.

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
        packages: tuple[str, ...] = (),
        hashes: int = 0,
    ) -> None:
        submission = self.submission = submission.held
        self.place = place
        self._refused = refused
        self.account, self.took, self.waited = Account(), 0.0, 0.0
        self.witness: Callable[[Mapping[str, Any], Sequence[int]], None] | None = None
        self._limits = limits or (_GPU_LIMITS if place.gpu else sandbox.Limits())
        self._numbers = itertools.count(1)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._control = ours
        self._ahead = bytearray()
        with contextlib.ExitStack() as undo, theirs:
            undo.callback(ours.close)
            self.jail = sandbox.launch(
                submission.path,
                adapter=submission.adapter,
                control=theirs,
                limits=self._limits,
                mode=mode,
                gpu=place.gpu,
                device=place.device.id,
                arrays=place.arrays,
                packages=packages,
                hashes=hashes,
            )
            undo.pop_all()
        self._processor = Processor(self.jail.inner_pid)
        try:
            turn = Turn(start_budget, self._processor)
            self.facts: Mapping[str, Any] = self._heard(turn)
            # Ready once all that it needs is imported: what fails until then is no fault of a submission.
            self._heard(turn)
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
        self._processor.close()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.jail.poll() is None

    @property
    def processor_used(self) -> float:
        """Seconds of processor time that all of the process's threads took so far, by the kernel's clock."""
        return self._processor.used()

    @property
    def processor_left(self) -> float:
        """Seconds of processor time until the process meets its limit."""
        return self._limits.cpu_seconds - self._processor.total()

    def taken_over(self) -> tuple[socket.socket, bytes, Processor]:
        """Its control socket, what was read of it already, and what the kernel tells of the process.

        For a conversation of another kind, which goes on until :meth:`close`.
        """
        return self._control, bytes(self._ahead), self._processor

    def ended(self) -> Died:
        """Why a process ended that is no more; it is closed."""
        return self._gone()

    def hand_over(self, op: str, fd: int, *, budget: float, **body: Any) -> Mapping[str, Any]:
        """One request of plain data with a file descriptor; see :meth:`ask`."""
        return self._request({"op": op, **body}, budget, (fd,))

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

    def again(self, body: Mapping[str, Any], budget: float, fds: Sequence[int] = ()) -> Mapping[str, Any]:
        """A request that was made before, as a :attr:`witness` saw it; see :meth:`ask`.

        Args:
            body: It, with the numbers of what is kept.
            budget: Seconds until the process is killed.
            fds: Descriptors of what went with it.
        """
        return self._request(body, budget, fds)

    def converse(
        self, op: str, answer: Callable[[bytes], Mapping[str, Any]], *, budget: float = 20.0, **body: Any
    ) -> Mapping[str, Any]:
        """A request in the middle of which the process may ask back.

        Args:
            op: Name of the worker's operation.
            answer: What is answered to what it asks.
            budget: Seconds that it may take each time until it asks or ends.
            body: What goes with it.

        Returns:
            The reply; untrusted.

        Raises:
            Fault: It raised, hung or ended the process.
        """
        reply = self._request({"op": op, **body}, budget)
        while "ask" in reply:
            asked = reply["ask"]
            if not isinstance(asked, bytes):
                self.close()
                raise BadResult("the worker's reply is malformed")
            reply = self._request({"op": "answer", **answer(asked)}, budget)
        return reply

    def _request(self, body: Mapping[str, Any], budget: float, fds: Sequence[int] = ()) -> dict[str, Any]:
        if self.witness is not None:
            self.witness(body, fds)
        seconds = min(budget, self.account.left)
        if seconds <= 0:
            self.close()
            raise TimedOut("used up the time of the check")
        turn = Turn(seconds, self._processor)
        try:
            reply = self._heard(turn, body, tuple(fds), cut=self.account.left <= budget)
        finally:
            self.took, self.waited = turn.own, turn.waited
            self.account.spent += self.took
        if "lost" in reply:
            self.close()
            raise Died(f"left the GPU in an error: {str(reply['lost'])[:_LONGEST_NAME]}")
        if "raised" in reply:
            fault = raised(reply["raised"], reply, gpu=self.place.gpu)
            if self._refused is not None and (fault.file or isinstance(fault, NotPortable)):
                self._refused(fault)
            raise fault
        if "bad" in reply:
            raise BadResult(f"answered with {reply['bad']}")
        return reply

    def _heard(
        self,
        turn: Turn,
        body: Mapping[str, Any] | None = None,
        fds: tuple[int, ...] = (),
        *,
        cut: bool = False,
    ) -> dict[str, Any]:
        """Send a request, if any, and receive a message, within a turn; ``cut`` to the check's."""
        timed, sent = _Timed(self._control, turn, self._ahead), body is None
        try:
            if body is not None:
                # A stopped worker must not hold a large request up for ever.
                wire.send(timed, body, fds)  # type: ignore[arg-type]
                sent = True
            reply, _none = wire.receive(
                timed,  # type: ignore[arg-type]
                most=wire.MAX_REPLY,
                affordable=affordable,
            )
        except _LateError as late:
            told = turn.told()
            self.close()
            raise _verdict_on(late.over, turn, told, sent=sent, cut=cut) from late
        except (EOFError, OSError) as error:
            raise self._gone() from error
        except ValueError as error:
            self.close()
            raise BadResult(str(error)) from error
        try:
            return checked(str((body or {}).get("op", "")), reply)
        except BadResult:
            # who forges one may forge the next
            self.close()
            raise

    def _gone(self) -> Died:
        clause = self.jail.ended() if self.jail.wait(_LAST_SECONDS) else "closed its connection"
        output = self.jail.output()
        self.close()
        return Died(clause, output=output[-4000:])


class _LateError(Exception):
    """A turn is over before the other side did its part."""

    def __init__(self, over: Over) -> None:
        super().__init__(str(over))
        self.over = over


class _Timed:
    """A socket of which every read and write is part of one turn (duck-typed for :mod:`wire`).

    Args:
        control: The socket.
        turn: The turn.
        ahead: What was read of it and not asked for yet; changed.
    """

    def __init__(self, control: socket.socket, turn: Turn, ahead: bytearray) -> None:
        self._control = control
        self._turn = turn
        self._ahead = ahead

    def recv(self, count: int) -> bytes:
        if not self._ahead:
            self._ahead += self._patiently(lambda: self._control.recv(max(count, _AHEAD)))
        part = bytes(self._ahead[:count])
        del self._ahead[:count]
        return part

    def sendmsg(self, *parts: Any) -> int:
        return self._patiently(lambda: self._control.sendmsg(*parts))

    def sendall(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._patiently(lambda part=left: self._control.send(part)) :]  # type: ignore[misc]

    def _patiently(self, step: Callable[[], _T]) -> _T:
        while True:
            patience = self._turn.patience()
            if isinstance(patience, Over):
                raise _LateError(patience)
            self._control.settimeout(patience)
            with contextlib.suppress(TimeoutError):
                return step()


def _verdict_on(over: Over, turn: Turn, told: str, *, sent: bool, cut: bool) -> TimedOut | EngineError:
    """Whose fault it is that a turn is over: the submission's, or a machine's that has no time for it."""
    if over is Over.MACHINE:
        return EngineError(
            f"the machine is too busy: a call that may take {turn.seconds:.3g} s got {turn.ran:.3g} s "
            f"of processor time in {turn.wall:.0f} s",
            hint="Run it again when less else runs.",
        )
    if not sent:
        return TimedOut("took nothing more in", output=told)
    if cut:
        return TimedOut("used up the time of the check", output=told)
    of = " of processor time" if over is Over.PROCESSOR_TIME else ""
    return TimedOut(f"took longer than its budget of {turn.seconds:.3g} s{of}", output=told)


def raised(value: Any, reply: Mapping[str, Any], *, gpu: bool) -> Raised | NotPortable:
    """The exception that a reply tells of; all of it from the untrusted side.

    Args:
        value: What the reply says of the exception.
        reply: The reply.
        gpu: Whether the arrays were a GPU's: on the CPU there is nothing that they cannot do.
    """
    told = mapping(value)
    line, file = told.get("line"), told.get("file")
    where: dict[str, Any] = {
        "file": file if isinstance(file, str) else None,
        "line": line if isinstance(line, int) else None,
        "output": f"{str(reply.get('printed', ''))[-_KEPT:]}\n{told.get('traceback', '')}".strip(),
    }
    if gpu and (lacking := told.get("lacking")):
        return NotPortable(str(lacking)[:_LONGEST_NAME], **where)
    kinds = told.get("kinds")
    return Raised(
        str(told.get("type", "")),
        str(told.get("message", "")),
        kinds=[str(kind) for kind in kinds] if isinstance(kinds, list) else (),
        at=str(told.get("at", ""))[:_LONGEST_NAME],
        **where,
    )


def mapping(value: Any) -> dict[str, Any]:
    """The part of a reply where it is a mapping; nothing where it is something else."""
    return value if isinstance(value, dict) else {}
