"""Which machine this is: every outcome says so, and timings of different ones are never compared."""

from __future__ import annotations

import functools
import os
import platform

__all__ = ["HOST", "host"]

#: Names this machine in outcomes, where its own name tells nothing or too much.
HOST = "JUDGE_TUI_HOST"


@functools.cache
def host() -> str:
    """The name of this machine: ``$JUDGE_TUI_HOST``, or what the system calls it."""
    return os.environ.get(HOST) or platform.node()
