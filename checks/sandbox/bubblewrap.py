"""Bubblewrap: whether it is there, what it can do here, and how a worker is wrapped in it."""

from __future__ import annotations

import errno
import functools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import mounts

__all__ = ["START_SECONDS", "Bubblewrap", "find_bubblewrap", "python", "wrapped"]

#: Wall seconds within which a worker must have started; a machine may be very busy.
START_SECONDS = 120.0
#: What a machine says that has no room just now, and seconds to wait before trying again.
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
_PAUSES = (0.2, 1.0, 3.0)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A bubblewrap that works, and what it can do here.

    Attributes:
        path: The program.
        proc: Whether it can mount ``/proc``; some containers refuse.
        size: Whether it can bound the scratch folder; older ones cannot.
    """

    path: str
    proc: bool
    size: bool


@functools.cache
def find_bubblewrap() -> tuple[Bubblewrap | None, str]:
    """Find a bubblewrap that works here, trying with less where more is refused; once per process.

    Returns:
        The bubblewrap, if any, and a sentence about it.

    Raises:
        EngineError: It does not answer, which says nothing about whether it works.
    """
    path = shutil.which("bwrap")
    if path is None:
        return None, "bubblewrap is not installed"
    said = ""
    for proc, size in ((True, True), (False, True), (True, False), (False, False)):
        found = Bubblewrap(path, proc, size)
        empty = mounts.WORKER
        argv = [
            *wrapped(found),
            *mounts.bubblewrap_view(empty, None, empty, proc=proc, size=size, gpu=False)[0],
        ]
        argv += ["--", *python("pass")]
        refused = _refused(argv)
        if refused is None:
            return found, "runs in bubblewrap" + ("" if proc else ", without /proc")
        said = said or refused
    return None, f"bubblewrap does not work here: {said}"


def _refused(argv: Sequence[str]) -> str | None:
    """Why a program does not run here; ``None`` when it does. What may pass is tried again.

    Raises:
        EngineError: It does not answer.
    """
    said = ""
    for pause in (*_PAUSES, None):
        try:
            tried = subprocess.run(argv, capture_output=True, timeout=START_SECONDS, check=False, env={})
        except subprocess.TimeoutExpired as error:
            raise EngineError(
                f"bubblewrap did not answer within {START_SECONDS:.3g} s, so nobody knows whether it works",
                hint="The machine may be too busy: run it again when less else runs.",
            ) from error
        except OSError as error:
            said, passes = f"cannot be started: {error.strerror}", error.errno in _PASSING
        else:
            if tried.returncode == 0:
                return None
            said = tried.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            killed = tried.returncode < 0 or tried.returncode > 128
            passes = killed or any(os.strerror(number) in said for number in _PASSING)
        if not passes:
            break
        if pause is not None:
            time.sleep(pause)
    return said


def wrapped(bubblewrap: Bubblewrap) -> list[str]:
    """How a command line begins: what is wrapped is the only process of its namespace, and so its pid 1.

    Args:
        bubblewrap: One that works.
    """
    return [
        bubblewrap.path,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
        "--cap-drop",
        "ALL",
    ]


def python(code: str) -> list[str]:
    """A command line that runs code with this environment's interpreter, without its start-up files.

    What it is told by the environment is what the jail was given: how texts hash, and nothing else.

    Args:
        code: Python; leaving the files out saves 25 ms.
    """
    return [os.path.realpath(sys.executable), "-s", "-P", "-S", "-B", "-X", "faulthandler", "-c", code]
