"""Files of unsaved work: each window has its own, and a lock beside it says that the window is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from judge_tui.tui.kept.window_lock import WindowLock

__all__ = ["KeptFiles"]


class KeptFiles:
    """The files of unsaved work of one document, and which of them are this window's.

    A file ``<name>.<token>.toml`` is that of the window which holds ``<name>.<token>.lock``; the lock of a
    window that has ended, in whatever way, is free. ``<name>.toml`` is of a version that had one file for all
    windows. Where nothing can be locked, as on some network folders, it still is the file of all: what is
    kept last replaces what was kept before, and every start takes it up.

    Args:
        shared: ``<name>.toml``.
    """

    def __init__(self, shared: Path) -> None:
        self._shared = shared
        #: This window's, the newest first, with the locks that it holds.
        self._held: dict[Path, WindowLock | None] = {}

    def all(self) -> list[Path]:
        """Those of every window, open or not, the newest first."""
        folder, name = self._shared.parent, self._shared.stem
        found = [*folder.glob(f"{name}.toml"), *folder.glob(f"{name}.*.toml")]
        return sorted(found, key=lambda file: (_written(file), file.name), reverse=True)

    def claimed(self) -> Iterator[Path]:
        """Make those of windows that have ended this window's: one at each step, the newest first."""
        for file in self.all():
            mine = self._claim(file)
            if mine is not None:
                yield mine

    def own(self) -> Path:
        """The file that this window writes: the newest that it has claimed, or a new one."""
        if not self._held:
            file, lock = self._new()
            self._held[file] = lock
        return next(iter(self._held))

    def forget(self, file: Path) -> None:
        """Delete one of this window's files."""
        lock = self._held.pop(file)
        with suppress(OSError):
            file.unlink(missing_ok=True)
        _release(lock)

    def leave(self, file: Path) -> None:
        """Leave one of this window's files to a later start, as if it had not been claimed."""
        _release(self._held.pop(file))

    def set_aside(self, file: Path, wanted: Path) -> Path:
        """Put one of this window's files away under a name that is free; its path then, or still."""
        number, to = 1, wanted
        while to.exists():
            number += 1
            to = wanted.with_name(f"{wanted.name}.{number}")
        try:
            to.parent.mkdir(parents=True, exist_ok=True)
            file.rename(to)
        except OSError:
            to = file
        _release(self._held.pop(file))
        return to

    def drop(self) -> None:
        """Delete all of this window's files."""
        for file in list(self._held):
            self.forget(file)

    def close(self) -> None:
        """Leave this window's files to the next start."""
        for lock in self._held.values():
            _release(lock)
        self._held.clear()

    def _claim(self, file: Path) -> Path | None:
        try:
            mine, lock = self._taken_over(file) if file == self._shared else (file, _locked(file))
        except BlockingIOError:
            return None
        if not mine.exists():
            # its window has saved it meanwhile
            _release(lock)
            return None
        self._held[mine] = lock
        return mine

    def _taken_over(self, shared: Path) -> tuple[Path, WindowLock | None]:
        mine, lock = self._new()
        try:
            shared.rename(mine)
        except OSError:
            _release(lock)
            return shared, None
        return mine, lock

    def _new(self) -> tuple[Path, WindowLock | None]:
        while True:
            file = self._shared.with_suffix(f".{uuid4().hex[:12]}.toml")
            # another start may look at a lock just as it is made
            with suppress(BlockingIOError):
                lock = _locked(file)
                return (self._shared, None) if lock is None else (file, lock)


def _locked(file: Path) -> WindowLock | None:
    return WindowLock.taken(file, passing=True)


def _release(lock: WindowLock | None) -> None:
    if lock is not None:
        lock.release()


def _written(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
