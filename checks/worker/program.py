"""Run one program, confined, on files that the trusted side hands over; bring files back.

This process stays outside what the program is confined to: it writes the files, waits, copies
what is wanted into the memory that the trusted side made, and ends; as the first process of a
namespace, or of a group that nothing may leave, it takes everything that the program started along.
Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import confine

__all__ = ["main"]

_CHUNK = 1 << 20
_NOT_RUN = 127
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_MOST_PACKED = 2000
_PAUSE = 0.005
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main(settings: dict[str, Any]) -> None:
    """Run ``settings["program"]`` and end this process.

    Args:
        settings: Terms of confinement for :func:`.confine.apply`, and ``program``: ``argv``, ``environment``,
            ``files`` (relative name → fd to read from), ``wanted`` (relative name → [fd to write to, most
            bytes]), ``told`` (fd that gets the ending as JSON), ``streams`` (fds that become its standard
            input and output, or ``None``), ``seconds`` (wall time until it is killed, or ``None``), ``tree``
            ([fd that gets all files, most bytes], or ``None``). And ``sites``: where it finds packages, where
            it is Python and is to find any.
    """
    program, scratch = settings["program"], settings["write"][0]
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)
    # without a namespace too, what it starts and leaves stays below this process, where its memory is counted
    libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
    wanted = {name: (fd, most) for name, (fd, most) in program["wanted"].items()}
    for fd in (
        *program["files"].values(),
        *(fd for fd, _most in wanted.values()),
        program["told"],
        *(program["tree"] or ())[:1],
    ):
        os.set_inheritable(fd, False)
    for name, fd in program["files"].items():
        _written(Path(scratch, name), fd)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _become(program, scratch, settings)
    for fd in program["streams"] or ():
        os.close(fd)
    timed_out, delayed = _followed(child, program["seconds"]) if program["seconds"] else (False, 0.0)
    status, seconds, peak = _waited(child)
    own_seconds = time.monotonic() - started - delayed
    brought = [name for name, (fd, most) in wanted.items() if _brought(Path(scratch, name), fd, most)]
    if program["tree"]:
        _packed(Path(scratch), *program["tree"])
    ending = {"status": status, "cpu_seconds": seconds, "peak_bytes": peak, "brought": brought,
              "own_seconds": own_seconds, "timed_out": timed_out}  # fmt: skip
    os.write(program["told"], json.dumps(ending).encode())
    sys.stdout.flush()
    os._exit(0)


def _become(program: Mapping[str, Any], scratch: str, settings: dict[str, Any]) -> None:
    """Turn the forked process into the program; never returns."""
    try:
        os.chdir(scratch)
        for number, fd in enumerate(program["streams"] or ()):
            os.dup2(fd, number)
            os.close(fd)
        confine.apply(settings)
        own = {"HOME": scratch, "TMPDIR": scratch}
        if sites := settings.get("sites"):
            own |= {"PYTHONPATH": os.pathsep.join(sites), **_ONE_THREAD}
            own |= {name: os.environ[name] for name in ("TRITON_INTERPRET",) if name in os.environ}
        os.execve(program["argv"][0], list(program["argv"]), {**own, **program["environment"]})
    except OSError as error:
        os.write(2, f"{program['argv'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(_NOT_RUN)


def _followed(child: int, seconds: float) -> tuple[bool, float]:
    """Wait for a process's end; whether it was killed when its time was over, and seconds that it was kept.

    What it waits for a processor is the machine's time, not its own.
    """
    poller, started, pause = select.poll(), time.monotonic(), _PAUSE
    with contextlib.suppress(OSError):
        # where the kernel tells of an end, it is not waited past
        poller.register(os.pidfd_open(child), select.POLLIN)
        pause = seconds
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        left = started + seconds - time.monotonic()
        if left <= 0 and left + _delayed(child) <= 0:
            os.kill(child, signal.SIGKILL)
            return True, _delayed(child)
        poller.poll(1000 * min(max(left, _PAUSE), pause))
    return False, _delayed(child)


def _delayed(child: int) -> float:
    """Seconds that a process stood ready and had no processor; 0 where the system does not tell.

    Source: Linux, Documentation/scheduler/sched-stats.rst, "/proc/<pid>/schedstat".
    """
    try:
        return int(Path(f"/proc/{child}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


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


def _packed(folder: Path, fd: int, most: int) -> None:
    """Copy all files of a tree: a line with their names and sizes, then one after another."""
    found = sorted(Path(inner, name) for inner, names in _listed(folder) for name in names)
    listed: list[tuple[str, int]] = []
    parts: list[bytes] = []
    for path in found[:_MOST_PACKED]:
        if (content := _regular(path, most)) is not None:
            most -= len(content)
            listed.append((path.relative_to(folder).as_posix(), len(content)))
            parts.append(content)
    with open(fd, "wb", closefd=False) as sink:
        sink.write(json.dumps(listed).encode() + b"\n")
        sink.writelines(parts)


def _listed(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The folders of a tree and the files in each; what is hidden is a cache, or nobody's business."""
    for inner, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield inner, names


def _regular(path: Path, most: int) -> bytes | None:
    """A file's content; ``None`` of a link, a device, and what is larger than may be."""
    try:
        source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(source, "rb") as stream:
        told = os.fstat(source)
        return stream.read(most) if stat.S_ISREG(told.st_mode) and told.st_size <= most else None
