"""Run one program, confined, on files that the trusted side hands over; bring files back.

This process stays outside what the program is confined to: it writes the files, waits, copies
what is wanted into the memory that the trusted side made, and ends; as the first process of a
namespace it takes everything that the program started along. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import confine

__all__ = ["main"]

_CHUNK = 1 << 20
_NOT_RUN = 127
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9


def main(settings: dict[str, Any]) -> None:
    """Run ``settings["program"]`` and end this process.

    Args:
        settings: Terms of confinement for :func:`.confine.apply`, and ``program``: ``argv``, ``environment``,
            ``files`` (relative name → fd to read from), ``wanted`` (relative name → [fd to write to, most
            bytes]), ``told`` (fd that gets the ending as JSON).
    """
    program, scratch = settings["program"], settings["write"][0]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(_SIGKILL), 0, 0, 0)
    wanted = {name: (fd, most) for name, (fd, most) in program["wanted"].items()}
    for fd in (*program["files"].values(), *(fd for fd, _most in wanted.values()), program["told"]):
        os.set_inheritable(fd, False)
    for name, fd in program["files"].items():
        _written(Path(scratch, name), fd)
    child = os.fork()
    if child == 0:
        _become(program, scratch, settings)
    status, seconds, peak = _waited(child)
    brought = [name for name, (fd, most) in wanted.items() if _brought(Path(scratch, name), fd, most)]
    ending = {"status": status, "cpu_seconds": seconds, "peak_bytes": peak, "brought": brought}
    os.write(program["told"], json.dumps(ending).encode())
    sys.stdout.flush()
    os._exit(0)


def _become(program: Mapping[str, Any], scratch: str, settings: dict[str, Any]) -> None:
    """Turn the forked process into the program; never returns."""
    try:
        os.chdir(scratch)
        confine.apply(settings)
        own = {"HOME": scratch, "TMPDIR": scratch}
        os.execve(program["argv"][0], list(program["argv"]), {**own, **program["environment"]})
    except OSError as error:
        os.write(2, f"{program['argv'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(_NOT_RUN)


def _waited(child: int) -> tuple[int, float, int]:
    """Exit status, ``-n`` for signal n, processor seconds and peak bytes; orphans are reaped meanwhile."""
    while True:
        pid, raw, usage = os.wait4(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(raw), usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def _written(path: Path, fd: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(fd, "rb") as source, path.open("wb") as sink:
        while part := source.read(_CHUNK):
            sink.write(part)
    path.chmod(0o755)


def _brought(path: Path, fd: int, most: int) -> bool:
    """Copy a file that the program left; links and devices are none."""
    try:
        source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with open(source, "rb") as stream:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            return False
        while most > 0 and (part := stream.read(min(most, _CHUNK))):
            os.write(fd, part)
            most -= len(part)
    return True
