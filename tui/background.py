"""Work beside the event loop: one daemon thread, jobs in order, results handed back to the loop.

A daemon of our own, because the threads of Textual's workers hold up the exit.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["Background"]

Result = TypeVar("Result")


class Background:
    """Runs functions in a thread and their continuations in the event loop that made it.

    Args:
        failed: Told in one sentence, in that loop, when a function raises; its continuation is left out.
        held: Whether all waits for :meth:`begin`: what runs beside a frame takes the interpreter from it.
    """

    def __init__(self, failed: Callable[[str], None], *, held: bool = False) -> None:
        self._failed = failed
        self._jobs: queue.SimpleQueue[
            tuple[Callable[[], Any], Callable[[Any], object], contextvars.Context] | None
        ]
        self._jobs = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self.waiting = 0
        self._thread = threading.Thread(target=self._work, name="background", daemon=True)
        if not held:
            self.begin()

    def begin(self) -> None:
        """Begin with the jobs that wait; once."""
        self._thread.start()

    def submit(self, job: Callable[[], Result], done: Callable[[Result], object]) -> None:
        """Run ``job`` in the thread, then ``done`` with its result in the loop."""
        self.waiting += 1
        self._jobs.put((job, done, contextvars.copy_context()))

    def close(self) -> None:
        """End the thread after the jobs that wait."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (given := self._jobs.get()) is not None:
            job, done, context = given
            result: Any = None
            try:
                result = job()
            except Exception as error:
                result = error
            # the loop is closed when the app has ended
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._finish, done, result, context=context)

    def _finish(self, done: Callable[[Any], object], result: Any) -> None:
        self.waiting -= 1
        if isinstance(result, Exception):
            # without its words: they may name what a blind judge must not see
            kind = type(result).__name__
            self._failed(f"Work behind the screen failed ({kind}): what it was to show is missing.")
        else:
            done(result)
