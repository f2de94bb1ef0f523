"""The lock beside a file that says which window has it."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

__all__ = ["WindowLock"]


class WindowLock(Struct, frozen=True):
    """The lock ``<name>.lock`` of a file ``<name>.<suffix>``; free once its window has ended, however."""

    _file: Path
    _descriptor: int
    _passing: bool

    @classmethod
    def taken(cls, file: Path, *, passing: bool = False) -> WindowLock | None:
        """Hold the lock of a file; ``None`` where nothing can be locked, as on some network folders.

        Args:
            file: What is this window's from now on; it need not be there.
            passing: Whether the lock goes with its file: only where no later file has the same name, or two
                windows could hold a lock each.

        Raises:
            BlockingIOError: An open window holds it.
        """
        beside = _beside(file)
        try:
            beside.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        lock = cls(file, descriptor, passing)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:
            lock.release()
            return None
        return lock

    def release(self) -> None:
        """Leave the file to other windows."""
        # a lock whose file is there must stay the same one for all that try it
        if self._passing and not self._file.exists():
            with suppress(OSError):
                _beside(self._file).unlink(missing_ok=True)
        with suppress(OSError):
            os.close(self._descriptor)


def _beside(file: Path) -> Path:
    return file.with_suffix(".lock")
