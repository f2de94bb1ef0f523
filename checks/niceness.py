"""How far a process stands back for others where all processors are busy."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

__all__ = ["be_nice"]

#: The kernel takes one such word at a time from who is no administrator, and the next one after a tenth of a
#: second; how often that is waited for.
_AGAIN_S, _TRIES = 0.15, 20


def be_nice(pid: int, nice: int) -> None:
    """Give a process, and what it starts in its session, the share of processors that a niceness stands for.

    Kernels that share processors out by sessions first look at the niceness of the session; that of its
    processes says there only how they share among themselves. Where a system knows no such thing, or does not
    allow it, the process runs as it did.

    Args:
        pid: Of the process; the first one of its session.
        nice: 0 to 19.

    Source: Linux, sched(7), "The autogroup feature".
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, nice)
    _rank_session(pid, nice, _TRIES)


def _rank_session(pid: int, nice: int, tries: int) -> None:
    try:
        Path(f"/proc/{pid}/autogroup").write_text(f"{nice}", encoding="ascii")
    except BlockingIOError:
        if tries:
            later = threading.Timer(_AGAIN_S, _rank_session, (pid, nice, tries - 1))
            later.daemon = True
            later.start()
    except OSError:
        # no Linux, no such kernel, or the process has ended
        pass
