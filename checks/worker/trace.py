"""Traced allocations of one call, whatever the submission does with the trace meanwhile.

A forward that measures its own memory starts, resets and stops the same trace, which is
no reason to lose ours; one that forgets a peak to look small must not succeed either.
"""

from __future__ import annotations

import gc
import tracemalloc

__all__ = ["Trace"]


class Trace:
    """The process's trace of allocations; made before any file of a submission is imported.

    Attributes:
        held: Bytes beyond those at the start that were still held at the last stop.
    """

    def __init__(self) -> None:
        self._running = False
        self._highest = 0
        self._started = 0
        self.held = 0
        self._reset, self._stop, self._clear = (
            tracemalloc.reset_peak,
            tracemalloc.stop,
            tracemalloc.clear_traces,
        )
        tracemalloc.reset_peak = self._on_reset
        tracemalloc.stop = self._on_stop
        tracemalloc.clear_traces = self._on_clear

    def start(self) -> None:
        """Begin: what is allocated from here on counts."""
        gc.collect()
        tracemalloc.start()
        self._reset()
        self._started, self._highest, self._running = tracemalloc.get_traced_memory()[0], 0, True

    def stop(self) -> int:
        """The highest number of bytes beyond those at the start."""
        self._fold()
        self.held = tracemalloc.get_traced_memory()[0] - self._started
        self._running = False
        self._stop()
        return self._highest - self._started

    def _fold(self) -> None:
        self._highest = max(self._highest, tracemalloc.get_traced_memory()[1])

    def _on_reset(self) -> None:
        self._fold()
        self._reset()

    def _on_stop(self) -> None:
        if not self._running:
            self._stop()

    def _on_clear(self) -> None:
        if not self._running:
            self._clear()
