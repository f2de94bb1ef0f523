"""A process's own time: wall clock, less what it waited for a processor while others had them all.

Budgets count it, so that right code does not fail because the machine was busy. Sleeping counts, and
so does a deadlock. A generous wall clock ends what the machine never lets run; that is nobody's fault
but the machine's, unless the process had its budget of processor time all the same.

Source: Linux, Documentation/scheduler/sched-stats.rst (``/proc/<pid>/schedstat``), proc(5).
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Account", "Over", "Processor", "Turn"]

#: The wall clock that ends a turn whatever the machine does: so many times its budget, and at least so long.
_WALL, _WALL_LEAST = 10.0, 60.0
#: The kernel tells of a wait once it is over: what seems to be late is asked again after this many seconds.
_AGAIN = 0.1
_TICK = os.sysconf("SC_CLK_TCK")


class Processor:
    """What the kernel tells of a process and the processors.

    Args:
        pid: The process.

    Attributes:
        told: Whether waiting is told at all; some kernels and containers keep it to themselves.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._file: io.FileIO | None = None
        self._last = (0.0, 0.0)
        with contextlib.suppress(OSError):
            self._file = io.FileIO(f"/proc/{pid}/schedstat")
        self.times()
        self.told = self._last != (0.0, 0.0)

    def close(self) -> None:
        """Give the file back; may be called again."""
        if self._file is not None:
            self._file.close()

    def times(self) -> tuple[float, float]:
        """Seconds that its main thread ran, and that it was ready to run and did not; 0 where not told."""
        if self._file is not None:
            # The file of a process that ended cannot be read any more, nor a closed one.
            with contextlib.suppress(OSError, ValueError):
                ran, waited, _turns = os.pread(self._file.fileno(), 128, 0).split()
                self._last = int(ran) * 1e-9, int(waited) * 1e-9
        return self._last

    def used(self) -> float:
        """Seconds of processor time of all its threads, to the microsecond; 0 where that is not told."""
        try:
            # The clock of another process, as clock_getcpuclockid(3) numbers it.
            return time.clock_gettime(~self._pid << 3 | 2)
        except OSError:
            return self.total()

    def total(self) -> float:
        """Seconds of processor time of all its threads; 0 where that is not told."""
        try:
            with open(f"/proc/{self._pid}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / _TICK
        except (OSError, ValueError, IndexError):
            return 0.0


@dataclass(slots=True)
class Account:
    """What a check may take of a submission's own time, over all of its processes.

    Attributes:
        seconds: The budget.
        spent: What was taken.
    """

    seconds: float = float("inf")
    spent: float = 0.0

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - self.spent


class Over(StrEnum):
    """Why a turn is over."""

    OWN_TIME = "its own time is used up"
    PROCESSOR_TIME = "its processor time is used up"
    MACHINE = "the machine did not let it run"


class Turn:
    """The time of one request, from now on.

    Args:
        seconds: Its budget of own time.
        processor: What the kernel tells of the process.
    """

    def __init__(self, seconds: float, processor: Processor) -> None:
        self.seconds = seconds
        self._processor = processor
        self._before = processor.times()
        self._started = time.monotonic()
        self._total_when_late: float | None = None
        self._asked = False

    @property
    def wall(self) -> float:
        """Seconds of wall clock so far."""
        return time.monotonic() - self._started

    @property
    def ran(self) -> float:
        """Seconds of processor time of its main thread."""
        return max(self._processor.times()[0] - self._before[0], 0.0)

    @property
    def waited(self) -> float:
        """Seconds that it was ready to run and did not."""
        return max(self._processor.times()[1] - self._before[1], 0.0)

    @property
    def own(self) -> float:
        """Seconds of its own time so far."""
        return max(self.wall - self.waited, 0.0)

    def patience(self) -> float | Over:
        """Seconds to wait before asking again, or why there is nothing to wait for."""
        wall = self.wall
        if wall < self.seconds:
            return min(self.seconds - wall, 1e6)
        left = self.seconds - self.own
        if self._total_when_late is None:
            self._total_when_late = self._processor.total()
        if left <= 0 and (self._asked or not self._processor.told):
            return Over.OWN_TIME
        if wall >= max(_WALL * self.seconds, _WALL_LEAST):
            ran = self._processor.total() - self._total_when_late
            return Over.PROCESSOR_TIME if ran >= self.seconds else Over.MACHINE
        self._asked = left <= 0
        return max(left, _AGAIN)

    def told(self) -> str:
        """Which clock counted, as a sentence."""
        wall, own = self.wall, self.own
        if not self._processor.told:
            return f"{wall:.3g} s of wall clock: the kernel does not tell how long it waited for a processor."
        return (
            f"{own:.3g} s of its own time, {self.ran:.3g} s of them on a processor; "
            f"{max(wall - own, 0):.3g} s of waiting for one do not count."
        )
