"""Calls that may be meant otherwise: what a submission does about one says nothing yet, but for its end."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault

__all__ = ["Guess"]


class Guess:
    """A block of calls that were guessed; it is left where one of them is refused, and the program goes on.

    What ends the worker's process is no refusal and passes through::

        with Guess(worker) as guess:
            return invoke(worker, binding, inputs)
        notes.append(guess.said)

    Args:
        worker: Where the calls go.

    Attributes:
        fault: What the submission did; ``None`` where it did nothing wrong, or was not asked at all.
        said: How the guess failed, in one clause; empty while it has not.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.fault: Fault | None = None
        self.said = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Fault) and self._worker.alive:
            self.fault, self.said = error, error.placed
            return True
        if isinstance(error, (KeyError, ValueError, IndexError)):
            # A binding names what its role is not given, or an answer has other parts than were looked for.
            self.said = f"cannot be called so: {error}"
            return True
        return False
