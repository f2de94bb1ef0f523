"""Folders that a process makes for itself and takes away; what a killed one left, a later one removes."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["new_folder", "prefix", "sweep"]

_PREFIX = "judge-tui-"


def prefix() -> str:
    """How the names of this process's folders begin."""
    return f"{_PREFIX}{os.getpid()}-"


def new_folder(purpose: str) -> Path:
    """A new empty folder that whoever asked for it takes away.

    Args:
        purpose: The end of its name.

    Raises:
        OSError: None can be made.
    """
    sweep(tempfile.gettempdir())
    return Path(tempfile.mkdtemp(prefix=prefix(), suffix=f"-{purpose}"))


@functools.cache
def sweep(folder: str) -> None:
    """Remove what processes that were killed could not; once per process.

    Args:
        folder: The folder of temporary files.
    """
    for left in Path(folder).glob(f"{_PREFIX}[0-9]*-*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if not Path("/proc", owner).exists() and left.lstat().st_uid == os.geteuid():
                shutil.rmtree(left, ignore_errors=True)
