"""The hostile probe: before any code of a submission runs, try what a hostile one would.

Every fact is measured by trying, not read from a setting; ``True`` means that the attempt
was refused. Runs in a few milliseconds, after :mod:`.confine`. Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import resource
import socket
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import confine

__all__ = ["run"]

#: An address that is routed like any other and belongs to nobody (RFC 5737).
_OUTSIDE = ("192.0.2.1", 9)
_PATIENCE = 0.2
_MARK = ".judge-probe"


def run() -> dict[str, bool]:
    """Measure what holds for this process.

    Returns:
        Fact → whether it holds. ``memory_limited`` is left out where no limit was asked for (GPU).
    """
    asked = confine.settings
    facts = {
        "no_network": _no_network(int(asked.get("port", 0))),
        "no_sockets": _refused(_open_socket),
        "read_only": _read_only(asked.get("outside", ())),
        "home_unreadable": _unreadable(asked.get("home", ())),
        "workspace_unreadable": _unreadable(asked.get("workspace", ())),
        "reference_unreadable": _unreadable(asked.get("reference", ())),
        "others_invisible": _others_invisible(_others(asked)),
        "others_unkillable": all(_unkillable(pid) for pid in _others(asked)),
        "no_fork": _no_fork(),
        "no_exec": _no_exec(),
        "no_capabilities": _no_capabilities(),
        "files_limited": _files_limited(),
    }
    wanted = asked.get("rlimits", {}).get("address_space")
    if wanted is not None:
        facts["memory_limited"] = _memory_limited(wanted)
    return facts


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def _open_socket() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close()


def _no_network(port: int) -> bool:
    """No route to the outside, and the trusted side's own listener out of reach."""
    if not _refused(lambda: _connect(socket.SOCK_DGRAM, _OUTSIDE)):
        return False
    return port == 0 or _refused(lambda: _connect(socket.SOCK_STREAM, ("127.0.0.1", port)))


def _connect(kind: socket.SocketKind, address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, kind) as attempt:
        attempt.settimeout(_PATIENCE)
        attempt.connect(address)


def _read_only(outside: Iterable[str]) -> bool:
    """Nothing can be made in, or changed about, the folders and files named."""
    return all(_untouchable(path) for path in outside)


def _untouchable(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True
    if not _refused(lambda: os.chmod(path, stat.S_IMODE(mode))):
        return False
    if not stat.S_ISDIR(mode):
        return _refused(lambda: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)))
    made = os.path.join(path, f"{_MARK}-{os.getpid()}")
    if _refused(lambda: os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL))):
        return _refused(lambda: os.rmdir(made)) and _refused(lambda: os.mkdir(made))
    os.unlink(made)
    return False


def _unreadable(paths: Iterable[str]) -> bool:
    """None of the files can be read, none of the folders listed."""
    return all(_refused(lambda path=path: _read(path)) for path in paths)  # type: ignore[misc]


def _read(path: str) -> None:
    try:
        os.listdir(path)
    except NotADirectoryError:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


def _others(asked: Mapping[str, Any]) -> set[int]:
    """Processes that must not be reached: those above this one, by the numbers that they would have."""
    if asked.get("own_pids"):
        return {os.getppid(), 1, 2} - {0, os.getpid()}
    return {os.getppid(), int(asked.get("parent", 0)), 1} - {0, os.getpid()}


def _others_invisible(others: Iterable[int]) -> bool:
    with contextlib.suppress(OSError):
        if any(name.isdigit() and int(name) != os.getpid() for name in os.listdir("/proc")):
            return False
    return all(_refused(lambda pid=pid: _read(f"/proc/{pid}/status")) for pid in others)  # type: ignore[misc]


def _unkillable(pid: int) -> bool:
    """Neither a signal nor the ownership of a pipe's signals reaches the process."""
    reader, writer = os.pipe()
    try:
        owned = not _refused(lambda: fcntl.fcntl(reader, fcntl.F_SETOWN, pid))
    finally:
        os.close(reader)
        os.close(writer)
    lowered = not _refused(lambda: resource.prlimit(pid, resource.RLIMIT_CORE))
    return _refused(lambda: os.kill(pid, 0)) and not owned and not lowered


def _no_fork() -> bool:
    try:
        child = os.fork()
    except OSError:
        return True
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return False


def _no_exec() -> bool:
    try:
        os.execv("/nowhere/judge-probe", ["judge-probe"])
    except OSError as error:
        return error.errno in (errno.EPERM, errno.EACCES)


def _no_capabilities() -> bool:
    """Neither the groups nor the priority can be set, which take a capability each."""
    if not _refused(lambda: os.setgroups(os.getgroups())):
        return False
    if _refused(lambda: os.nice(-1)):
        return True
    os.nice(1)
    return False


def _memory_limited(limit: int) -> bool:
    if resource.getrlimit(resource.RLIMIT_AS)[1] > limit:
        return False
    return _refused(
        lambda: mmap.mmap(-1, limit + mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    )


def _files_limited() -> bool:
    """A file cannot grow past the limit; where none can be made at all, the limit itself is read."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    if limit == resource.RLIM_INFINITY:
        return False
    name = f"{_MARK}-size"
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return True
    try:
        return _refused(lambda: os.ftruncate(descriptor, limit + 1))
    finally:
        os.close(descriptor)
        os.unlink(name)
