"""Processes of a submission for its tests: each is started while the one before still runs."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.own_time import Account
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.challenges.behaviour.sides import Side, pair
from judge_tui.checks.faults import Died
from judge_tui.checks.sandbox import Limits

__all__ = ["Processes"]

#: Address space that a process takes before a submission does anything: the interpreter, NumPy, threads.
_BEFORE = 1 << 30
#: Processes that are started at once, and wait to be used.
_AHEAD = 2
_Started = tuple[Side | None, BaseException | None, contextlib.ExitStack]


class Processes:
    """Starts processes ahead, in threads that live as long as they do: a jail ends with what started it.

    Args:
        bench: The submission's.
        entry: The file that tests import as ``submission``.
        seed: What draws in it hang on.
        seconds: What importing the file may take.
        memory: Bytes.
    """

    def __init__(self, bench: Bench, entry: str, seed: int, *, seconds: float, memory: int) -> None:
        self._bench, self._entry, self._seed = bench, entry, seed
        self._seconds, self._memory = seconds, memory
        self._wanted: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._ready: queue.SimpleQueue[_Started] = queue.SimpleQueue()
        self._waiting = 0
        self._held: contextlib.ExitStack | None = None
        self._threads = [
            threading.Thread(target=self._work, name="submission-processes", daemon=True)
            for _ in range(_AHEAD)
        ]
        for thread in self._threads:
            thread.start()

    def next(self, *, further: int) -> Side:
        """A process that nothing was asked of yet; the one before is at its end.

        Args:
            further: How many more will be wanted, as far as that is known.

        Raises:
            Fault: The submission's module cannot be imported.
            JudgeError: It cannot be started.
        """
        self.release()
        while self._waiting < min(further + 1, _AHEAD):
            self._order()
        side, error, self._held = self._ready.get()
        self._waiting -= 1
        while self._waiting < min(further, _AHEAD):
            self._order()
        if error is not None:
            raise error
        assert side is not None
        return side

    def release(self) -> None:
        """End the process that was given last."""
        held, self._held = self._held, None
        if held is not None:
            self._wanted.put(held.close)

    def close(self) -> None:
        """End all of them."""
        self.release()
        for _ in self._threads:
            self._wanted.put(None)
        for thread in self._threads:
            thread.join()
        while not self._ready.empty():
            self._ready.get()[2].close()

    def _order(self) -> None:
        self._waiting += 1
        self._wanted.put(self._start)

    def _work(self) -> None:
        while (job := self._wanted.get()) is not None:
            job()

    def _start(self) -> None:
        stack = contextlib.ExitStack()
        try:
            self._ready.put((self._started(stack), None, stack))
        # Whatever it is, whoever waits is told.
        except BaseException as error:
            self._ready.put((None, error, stack))

    def _started(self, stack: contextlib.ExitStack) -> Side:
        bench = self._bench
        if bench.stopped:
            raise Died("was stopped")
        # Two may start at once, which the bench has no need of.
        worker = Worker(
            bench.submission,
            limits=Limits(cpu_seconds=_processor(self._seconds), address_space=self._memory + _BEFORE),
            mode=bench.mode,
            packages=tuple(sorted(bench.contract.packages)),
            hashes=bench.hashes,
        )
        stack.enter_context(bench.watched(worker))
        # its time is counted by who asks something of it
        worker.account = Account()
        ours, theirs = pair()
        stack.callback(ours.close)
        with theirs:
            worker.hand_over(
                "border", theirs.fileno(), budget=self._seconds, entry=self._entry, seed=self._seed
            )
        return Side(worker, ours)


def _processor(seconds: float) -> int:
    """Seconds of processor time of a process whose tests may take so long each."""
    return max(Limits().cpu_seconds, round(4 * seconds))
