"""How long each turn of a program's event loop lasts: looked at from within, and written into a file.

import loop_turns
loop_turns.watch(path)
"""

from __future__ import annotations

import threading
import time
from asyncio import Handle
from pathlib import Path
from typing import Any

__all__ = ["longest", "watch"]

#: Seconds between two times that the longest turn is written down.
_WRITE_S = 0.2


def watch(path: str) -> None:
    """Write down the longest turn so far, in milliseconds: of the processor, and by the clock.

    A file that is taken away begins anew.

    Args:
        path: The file.
    """
    found = [0.0, 0.0]
    run = Handle._run  # noqa: SLF001  nothing public tells a turn from the next

    def timed(handle: Any) -> None:
        begun, clock = time.thread_time(), time.perf_counter()
        run(handle)
        found[0] = max(found[0], time.thread_time() - begun)
        found[1] = max(found[1], time.perf_counter() - clock)

    def write() -> None:
        file = Path(path)
        while True:
            time.sleep(_WRITE_S)
            if not file.exists():
                found[:] = 0.0, 0.0
            file.write_text(" ".join(str(seconds * 1000) for seconds in found))

    Handle._run = timed  # type: ignore[method-assign]  # noqa: SLF001
    threading.Thread(target=write, daemon=True).start()


def longest(path: str) -> tuple[float, float]:
    """The longest turn that was written down, in milliseconds: of the processor, and by the clock."""
    time.sleep(2 * _WRITE_S)
    processor, clock = Path(path).read_text().split()
    return float(processor), float(clock)
