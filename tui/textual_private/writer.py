"""The thread that writes to the terminal: it ends the program in a traceback once the terminal is gone."""

from __future__ import annotations

from collections.abc import Callable

from textual.drivers._writer_thread import WriterThread

__all__ = ["write_on"]


def write_on() -> None:
    """Have Textual's writer pass over what a terminal that is gone does not take (once per process)."""
    run: Callable[[WriterThread], None] = WriterThread.run
    if getattr(run, "writes_on", False):
        return

    def enduring(self: WriterThread) -> None:
        try:
            run(self)
        except OSError:
            # who writes waits until there is room for it
            while self._queue.get() is not None:
                pass

    enduring.writes_on = True  # type: ignore[attr-defined]
    WriterThread.run = enduring  # type: ignore[method-assign]
