"""Confine the calling process before anything of a submission, or NumPy, is imported.

Every measure is attempted and none is fatal: what the kernel does not support is
reported, and :mod:`.probe` then measures what holds. Standard library only.

Source: Linux man-pages setrlimit(2), prctl(2), capabilities(7), landlock(7), seccomp(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from typing import Any

from . import landlock, seccomp

__all__ = ["apply", "load", "settings"]

#: What the trusted side asked for; :mod:`.probe` reads it too. Filled by :func:`apply`.
settings: dict[str, Any] = {}

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_PR_SET_THP_DISABLE = 41
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
_SIGKILL = 9

_RLIMITS = {
    "cpu_seconds": resource.RLIMIT_CPU,
    "address_space": resource.RLIMIT_AS,
    "file_size": resource.RLIMIT_FSIZE,
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
    "core": resource.RLIMIT_CORE,
    "stack": resource.RLIMIT_STACK,
    "message_queues": resource.RLIMIT_MSGQUEUE,
}


def load() -> dict[str, Any]:
    """Read the settings that the trusted side put on standard input, and put ``/dev/null`` in its place."""
    with open(0, encoding="utf-8", closefd=False) as stream:
        read: dict[str, Any] = json.load(stream)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return read


def apply(limits: Mapping[str, Any]) -> list[str]:
    """Confine this process for good; there is no way back.

    Args:
        limits: ``rlimits`` (name → value or ``None``); ``read``, ``list``, ``write``, ``rewrite``,
            ``devices`` and ``execute`` (paths for Landlock); ``own_mounts`` (the file systems seen are
            read-only mounts), ``own_pids`` (a pid namespace), ``gpu``, ``counted``
            (all memory is to be seen as resident); all optional.

    Returns:
        One clause per measure: what holds, or why not.
    """
    settings.clear()
    settings.update(limits)
    libc = ctypes.CDLL(None, use_errno=True)
    steps: tuple[tuple[str, Callable[[], str]], ...] = (
        ("rlimits", lambda: _limit_resources(limits.get("rlimits", {}))),
        ("death signal", lambda: _prctl(libc, _PR_SET_PDEATHSIG, _SIGKILL)),
        (
            "small pages",
            lambda: _prctl(libc, _PR_SET_THP_DISABLE, 1) if limits.get("counted") else "as usual",
        ),
        ("not dumpable", lambda: _prctl(libc, _PR_SET_DUMPABLE, 0)),
        ("no new privileges", lambda: _prctl(libc, _PR_SET_NO_NEW_PRIVS, 1)),
        ("no capabilities", lambda: _drop_capabilities(libc)),
        ("landlock", lambda: landlock.restrict(libc, limits) if "read" in limits else "not asked for"),
        ("seccomp", lambda: seccomp.install(libc, limits)),
    )
    return [_told(name, step) for name, step in steps]


def _told(name: str, step: Callable[[], str]) -> str:
    try:
        detail = step()
    except (OSError, ValueError, AttributeError) as error:
        return f"{name}: failed ({error})"
    return f"{name}: {detail}" if detail else name


def _limit_resources(wanted: Mapping[str, int | None]) -> str:
    missed = []
    for name, value in wanted.items():
        if value is None:
            continue
        kind = _RLIMITS[name]
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (bound, bound))
        except (OSError, ValueError):
            missed.append(name)
    return f"without {', '.join(missed)}" if missed else ""


def _prctl(libc: ctypes.CDLL, option: int, value: int) -> str:
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ""


def _drop_capabilities(libc: ctypes.CDLL) -> str:
    """Empty every capability set, so that root in here is root in name only."""
    for capability in range(_LAST_CAPABILITY + 1):
        with contextlib.suppress(OSError):
            _prctl(libc, _PR_CAPBSET_DROP, capability)
    libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(_PR_CAP_AMBIENT_CLEAR_ALL), 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    number = _SYS_CAPSET.get(os.uname().machine)
    if number is None:
        raise OSError(f"unknown machine {os.uname().machine} ({sys.byteorder}-endian)")
    if libc.syscall(ctypes.c_long(number), header, nothing) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ""
