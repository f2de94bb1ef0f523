"""Folders that a process makes for itself and takes away; what a killed one left, a later one removes."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

__all__ = ["folder_of_worker", "new_folder", "release", "sweep"]

#: What this program alone calls a folder: its process, eight characters drawn by lot, a purpose.
_OURS = re.compile(r"judge-tui-(\d+)-[a-z0-9_]{8}-(?:snapshot|worker)")
#: Folder → its descriptor, which holds a lock on it as long as this process lives. In a container the number
#: of a process means nothing to others who have the same folder of temporary files.
_held: dict[Path, int] = {}


def new_folder(purpose: str) -> Path:
    """A new empty folder; :func:`release` takes it away.

    Args:
        purpose: The end of its name: ``snapshot``.

    Raises:
        OSError: None can be made.
    """
    sweep(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(f"-{purpose}", f"judge-tui-{os.getpid()}-"))
    with contextlib.suppress(OSError):
        _held[folder] = _locked(folder)
    return folder


def folder_of_worker() -> tempfile.TemporaryDirectory[str]:
    """A new empty folder that a worker may write to; its own cleaning up takes it away, whatever is in it.

    Raises:
        OSError: None can be made.
    """
    sweep(tempfile.gettempdir())
    folder = tempfile.TemporaryDirectory("-worker", f"judge-tui-{os.getpid()}-", ignore_cleanup_errors=True)
    with contextlib.suppress(OSError):
        weakref.finalize(folder, os.close, _locked(Path(folder.name)))
    return folder


def _locked(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return descriptor


def release(folder: Path) -> None:
    """Remove a folder that was made here, and all that is in it; one that is gone is no fault."""
    shutil.rmtree(folder, ignore_errors=True)
    if (descriptor := _held.pop(folder, None)) is not None:
        os.close(descriptor)


@functools.cache
def sweep(place: str) -> None:
    """Remove what processes that were killed could not; once per process.

    Args:
        place: The folder of temporary files.
    """
    with contextlib.suppress(OSError):
        for entry in os.scandir(place):
            ours = _OURS.fullmatch(entry.name)
            if ours and not Path("/proc", ours[1]).exists() and entry.is_dir(follow_symlinks=False):
                _remove_left(Path(entry.path))


def _remove_left(folder: Path) -> None:
    """Remove a folder that nobody holds any more."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)
