"""Which device runs what: one submission at a time on each, and the checks of few dealt to many.

The CPU is one device that takes as many jobs at once as asked, and what needs no process of another
check's beside them, on what they leave of the processors; a device with an id of its own, a GPU, takes
one, and its worker sees no other.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Iterator, Sequence

from judge_tui.checks.backends import Place
from judge_tui.checks.check import Check

__all__ = ["Devices", "aside", "dealt", "stand_back"]

#: Niceness that what runs beside the others has more than they.
_BEHIND = 5


class Devices:
    """The places that jobs take in turn.

    Args:
        places: One per device.
        jobs: How many jobs may run at once; 0 for one per processor, or one per device.

    Attributes:
        count: How many jobs run at once.
    """

    def __init__(self, places: Sequence[Place], jobs: int = 0) -> None:
        slots = list(places)
        if not any(place.device.id for place in places):
            slots = [places[0]] * (jobs or os.cpu_count() or 1)
        elif jobs:
            slots = slots[:jobs]
        self.count = len(slots)
        self._free: queue.SimpleQueue[Place] = queue.SimpleQueue()
        for place in slots:
            self._free.put(place)

    @contextlib.contextmanager
    def taken(self) -> Iterator[Place]:
        """A place that nobody else has meanwhile; waits until one is free."""
        place = self._free.get()
        try:
            yield place
        finally:
            self._free.put(place)


def dealt(
    checks: Sequence[Check], submissions: int, places: Sequence[Place], jobs: int = 0
) -> list[list[Check]]:
    """Parts of a submission's checks that run beside each other.

    Args:
        checks: Its checks.
        submissions: How many submissions there are.
        places: One per device.
        jobs: As in :class:`Devices`.

    Returns:
        On the CPU the checks that share a process, then those that need none; one part where devices are
        fewer than submissions; else as many as there are devices for each, the checks dealt in turn.
    """
    devices = [place for place in places if place.device.id]
    if not devices:
        split = [[each for each in checks if each.apart == apart] for apart in (False, True)]
        return [part for part in split if part]
    parts = max(1, (min(len(devices), jobs) if jobs else len(devices)) // max(1, submissions))
    return [part for start in range(parts) if (part := list(checks[start::parts]))]


def aside(part: Sequence[Check], places: Sequence[Place], jobs: int = 0) -> bool:
    """Whether a part of a submission's checks runs beside all others, as soon as there is anything idle.

    Args:
        part: Of :func:`dealt`.
        places: One per device.
        jobs: As in :class:`Devices`; a number that a person asked for is kept to.
    """
    return not jobs and not any(place.device.id for place in places) and all(each.apart for each in part)


def stand_back() -> None:
    """Leave the processors to other threads first, for this one and what it starts; where the system can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            mine = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(mine + _BEHIND, 19))
