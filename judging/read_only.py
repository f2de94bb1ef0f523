"""A process that only looks: nothing that people keep is written by it, whatever it is asked for.

What would be changed is refused in one sentence. Where the kernel has Landlock, the process itself takes the
right to write from itself and from all that it starts, so that nothing hangs on every place having asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError

__all__ = ["ASKED", "ReadOnly", "asked_for", "begin", "holds", "refusal"]

#: The variable by which a process is told that it only looks.
ASKED = "JUDGE_TUI_READ_ONLY"
_state = {"on": False}


class ReadOnly(WorkspaceError):
    """Something was to be written by a process that only looks."""


def asked_for(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process is to look only."""
    return bool(environment.get(ASKED))


def begin() -> bool:
    """Only look from here on; whether the kernel holds it as well. For the thread that all others come from.

    What is open already, as the terminal or the pipe to a browser, is written to as before.
    """
    _state["on"] = True
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    from judge_tui.checks.worker import landlock

    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges = 38
    try:
        if libc.prctl(no_new_privileges, 1, 0, 0, 0):
            return False
        landlock.restrict(libc, {"read": ("/",), "execute": ("/",), "devices": ("/dev/null", "/dev/tty")})
    except OSError:
        return False
    return True


def holds() -> bool:
    """Whether this process only looks."""
    return _state["on"]


def refusal(file: Path | None = None) -> ReadOnly | None:
    """Why nothing is written; ``None`` where this process may write."""
    if not holds():
        return None
    return ReadOnly("nothing is written here: this page is for looking only.", file=file)
