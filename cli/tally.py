"""How far a run is: outcomes, failures, how many come, and how long the rest takes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from judge_tui.checks.events import Event, Finished, Planned
from judge_tui.checks.request import Request
from judge_tui.checks.verdict import Verdict
from judge_tui.judging import under_way
from judge_tui.judging.under_way import UnderWay

__all__ = ["Tally"]

#: Seconds of which a rate is taken, and outcomes without which there is none.
_OF_LATE_S, _FEWEST = 60.0, 2
#: Seconds between two times that it is written down.
_WRITE_S = 1.0
_FAILED = (Verdict.FAIL, Verdict.ERROR)


class Tally:
    """Counts what is heard, from whichever thread.

    Args:
        asked: The requests of the run.
        root: The workspace, whose screens are told; ``None`` where there is none.
    """

    def __init__(self, asked: Sequence[Request] = (), root: Path | None = None) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._open = {each.task: len(each.submissions) for each in asked}
        self._submissions = self._planned = self._done = self._failed = 0
        #: When outcomes were found, of late; the first of them is only where the clock starts.
        self._found: deque[float] = deque([time.monotonic()])
        self._written = float("-inf")

    def heard(self, event: Event) -> None:
        """Take an event."""
        with self._lock:
            if isinstance(event, Planned):
                self._planned += len(event.checks)
                self._submissions += self._open.pop(event.task, 0)
            elif isinstance(event, Finished) and not event.again:
                self._done += 1
                self._failed += event.outcome.verdict in _FAILED
                if not event.cached:
                    self._found.append(time.monotonic())
                self._write()

    @property
    def now(self) -> UnderWay:
        """How far it is."""
        left = sum(self._open.values())
        more = round(left * self._planned / self._submissions) if self._submissions else 0
        return UnderWay(self._done, self._planned + more, not left, self._failed, self._rate())

    def _rate(self) -> float:
        now = time.monotonic()
        while len(self._found) > _FEWEST and now - self._found[0] > _OF_LATE_S:
            self._found.popleft()
        count, seconds = len(self._found) - 1, now - self._found[0]
        return count / seconds if count >= _FEWEST and seconds > 0 else 0.0

    def _write(self) -> None:
        if self._root is not None and time.monotonic() - self._written >= _WRITE_S:
            self._written = time.monotonic()
            under_way.keep(self._root, self.now)

    def close(self) -> None:
        """The run is over: no screen shows it any more."""
        if self._root is not None:
            under_way.clear(self._root)
