"""Files that two windows may write: stamps of what was read, and replacement in one step."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.judging.read_only import refusal

__all__ = ["Conflict", "FileStamp", "flush", "read_bytes", "write_atomically"]


class Conflict(WorkspaceError):
    """The file on disk is not the one that was read: another window or program has written it."""


class FileStamp(Struct, frozen=True):
    """Identifies the content that a file had when it was read or written."""

    digest: str

    @classmethod
    def of(cls, data: bytes) -> FileStamp:
        """The stamp of a content."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def at(cls, path: Path) -> FileStamp | None:
        """The stamp of a file as it is now; ``None`` when there is none.

        Raises:
            WorkspaceError: The file cannot be read.
        """
        data = read_bytes(path)
        return None if data is None else cls.of(data)


def read_bytes(path: Path) -> bytes | None:
    """The content of a file; ``None`` when there is none.

    Raises:
        WorkspaceError: It cannot be read.
    """
    try:
        with open_regular(path, follow=True) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=path) from error


_ANYTHING = FileStamp("")
#: What a disk says that cannot flush.
_NO_FLUSH = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def write_atomically(path: Path, data: bytes, expected: FileStamp | None = _ANYTHING) -> None:
    """Replace a file by way of a temporary one in the same folder, flushed to disk as far as it can be.

    Args:
        path: The file; a symbolic link is followed, and the mode of an old file kept.
        data: Its new content.
        expected: What must be on disk for it: ``None`` for no file; anything by default.

    Raises:
        Conflict: Something else is on disk.
        ReadOnly: This process only looks.
        WorkspaceError: The folder or file cannot be written.
    """
    if refused := refusal(path):
        raise refused
    path = Path(os.path.realpath(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(path.parent) as folder:
            if _locked(folder):
                _sweep(path)
            if expected is not _ANYTHING and FileStamp.at(path) != expected:
                raise Conflict(
                    "was changed by another window or program since it was read.",
                    hint="Load it again, or save over it.",
                    file=path,
                )
            _replace(path, data)
            # the file is replaced by now; some network disks flush no folders
            with suppress(OSError):
                os.fsync(folder)
    except OSError as error:
        raise WorkspaceError(
            f"cannot be written: {error.strerror}.", hint="Nothing was changed on disk.", file=path
        ) from error


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _locked(folder: int) -> bool:
    # some network file systems know no locks: the stamp alone must do there
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def _sweep(path: Path) -> None:
    # what a killed program left behind; the lock says that no other is at it
    for leftover in path.parent.iterdir():
        if leftover.name.startswith(f".{path.name}.") and leftover.suffix == ".tmp":
            leftover.unlink(missing_ok=True)


def flush(descriptor: int) -> None:
    """Have a file on disk, as far as the disk can be asked for it.

    Raises:
        OSError: It is full, or broken.
    """
    try:
        os.fsync(descriptor)
    except OSError as error:
        # some disks that programs provide cannot flush at all: nothing is gained by not saving there
        if error.errno not in _NO_FLUSH:
            raise


def _replace(path: Path, data: bytes) -> None:
    # a number of a process comes again, in a container at every start
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            # a disk without modes may refuse to set one
            with suppress(OSError):
                os.fchmod(descriptor, path.stat().st_mode & 0o777)
            stream.write(data)
            stream.flush()
            flush(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
