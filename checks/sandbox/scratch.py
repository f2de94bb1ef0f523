"""The folders that a jail may write to, watched from outside: bytes, entries and depth have bounds.

A file system of the jail's own bounds its bytes by itself; the kernel counts its entries, and tells them.
A folder on this machine's disk is walked now and then; what is deleted there and still open is not seen, and
bounded by the limits on files, descriptors and address space alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Protocol

__all__ = ["SCRATCH_BYTES", "SCRATCH_ENTRIES", "OwnMount", "Scratch", "SharedFolder"]

#: Bytes that may be written, and files and folders that may be made.
SCRATCH_BYTES, SCRATCH_ENTRIES = 256 << 20, 20_000
_DEEPEST = 64
_LEAST = 4096


class Scratch(Protocol):
    """What is watched of a folder that a jail may write to."""

    def excess(self) -> str:
        """What was written beyond the bounds, as a clause; empty while nothing was."""

    def close(self) -> None:
        """Watch no more."""


class OwnMount:
    """A file system in memory that a jail has for itself.

    Args:
        pid: A process of the jail, as this one sees it.
        path: Where the file system is mounted in there.
    """

    def __init__(self, pid: int, path: str) -> None:
        self._root = f"/proc/{pid}/root"
        self._path = self._root + path
        self._opened: int | None = None

    def excess(self) -> str:
        """Too many entries; their bytes have a bound anyway."""
        try:
            if self._opened is None:
                # until its mounts are made a jail's root is this machine's, and so is the folder
                if os.path.samestat(os.stat(f"{self._root}/"), os.stat("/")):
                    return ""
                self._opened = os.open(self._path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            told = os.statvfs(self._opened)
        except OSError:
            return ""
        return _too_many() if told.f_files - told.f_ffree > SCRATCH_ENTRIES else ""

    def close(self) -> None:
        """Let go of it."""
        opened, self._opened = self._opened, None
        if opened is not None:
            with contextlib.suppress(OSError):
                os.close(opened)


class SharedFolder:
    """A folder on this machine's own disk.

    Args:
        path: The folder.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def excess(self) -> str:
        """Too many bytes, entries or levels; what cannot be looked at is one too many."""
        total = entries = 0
        try:
            for entry in _entries(self._path):
                entries += 1
                total += max(_LEAST, entry.st_blocks * 512)
                if total > SCRATCH_BYTES:
                    return f"wrote more than {SCRATCH_BYTES >> 20} MiB to disk"
                if entries > SCRATCH_ENTRIES:
                    return _too_many()
        except _TooDeepError:
            return f"made folders more than {_DEEPEST} levels deep"
        return ""

    def close(self) -> None:
        """Nothing is held."""


class _TooDeepError(Exception):
    """Folders stand in each other further than can be looked at."""


def _entries(folder: str) -> Iterator[os.stat_result]:
    """Everything in a tree that changes underneath."""
    left = [(folder, 0)]
    while left:
        path, depth = left.pop()
        if depth > _DEEPEST:
            raise _TooDeepError
        for entry in _inside(path):
            if (told := _told(entry)) is not None:
                yield told
                if stat.S_ISDIR(told.st_mode):
                    left.append((entry.path, depth + 1))


def _told(entry: os.DirEntry[str]) -> os.stat_result | None:
    """What there is about an entry; ``None`` of one that is gone."""
    try:
        return entry.stat(follow_symlinks=False)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise _TooDeepError from error
        return None


def _inside(path: str) -> Iterator[os.DirEntry[str]]:
    """What a folder holds; one that is gone holds nothing."""
    try:
        with os.scandir(path) as found:
            yield from found
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise _TooDeepError from error


def _too_many() -> str:
    return f"made more than {SCRATCH_ENTRIES:,} files"
