"""Landlock by raw system calls: what the calling thread and its children may read and write.

Source: Linux ``Documentation/userspace-api/landlock.rst``, ABI 1 to 7.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["abi", "restrict"]

# The same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_MAKE_SOCKET, _MAKE_FIFO = 1 << 9, 1 << 10
_FIRST_ABI = (1 << 13) - 1
_NET_ALL = 0b11
_SCOPE_ALL = 0b11

_READ = _READ_FILE | _READ_DIR
_WRITE = (
    _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE
)
_DEVICE = _READ | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_MEETING = _MAKE_SOCKET | _MAKE_FIFO
_REWRITE = _READ | _WRITE_FILE | _TRUNCATE
_RIGHTS = {
    "read": _READ, "list": _READ_DIR, "write": _WRITE, "rewrite": _REWRITE, "devices": _DEVICE,
    "execute": _EXECUTE, "meet": _MEETING,
}  # fmt: skip
#: Rights that the kernel accepts in a rule about something that is not a folder.
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def abi(libc: ctypes.CDLL) -> int:
    """The kernel's Landlock ABI; 0 when there is none."""
    return max(0, int(libc.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), _VERSION)))


def restrict(libc: ctypes.CDLL, limits: Mapping[str, Any]) -> str:
    """Restrict the calling thread; threads that it starts later inherit it.

    Args:
        libc: The C library, loaded with ``use_errno``.
        limits: ``read`` (files and trees), ``list`` (folders whose names alone may be listed), ``write``
            (scratch), ``rewrite`` (trees of files that may be written to, none made or removed), ``devices``,
            ``execute`` (trees whose files may be run: none for a worker) and ``meet`` (folders in which
            processes may make pipes and sockets for each other). With newer kernels TCP, and signals and
            abstract sockets of the outside, are never allowed.

    Returns:
        The ABI, as a clause.

    Raises:
        OSError: The kernel has no Landlock, or refused.
    """
    version = abi(libc)
    if version < 1:
        raise OSError("the kernel has no Landlock")
    handled = _handled(version)
    attributes = struct.pack("=QQQ", handled, _NET_ALL, _SCOPE_ALL)[: _attribute_size(version)]
    ruleset = _checked(
        libc.syscall(ctypes.c_long(_CREATE_RULESET), attributes, ctypes.c_size_t(len(attributes)), 0)
    )
    try:
        for paths, rights in _RIGHTS.items():
            _allow(libc, ruleset, limits.get(paths, ()), rights & handled)
        _checked(libc.syscall(ctypes.c_long(_RESTRICT_SELF), ruleset, 0))
    finally:
        os.close(ruleset)
    return f"ABI {version}"


def _handled(version: int) -> int:
    later = (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    return _FIRST_ABI | later | (_IOCTL_DEV if version >= 5 else 0)


def _attribute_size(version: int) -> int:
    return 8 if version < 4 else 16 if version < 6 else 24


def _allow(libc: ctypes.CDLL, ruleset: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what does not exist needs no rule
        try:
            granted = rights if stat.S_ISDIR(os.fstat(descriptor).st_mode) else rights & _ON_FILES
            if granted:
                rule = struct.pack("=Qi", granted, descriptor)
                _checked(libc.syscall(ctypes.c_long(_ADD_RULE), ruleset, _PATH_BENEATH, rule, 0))
        finally:
            os.close(descriptor)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
