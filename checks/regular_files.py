"""Reading files that somebody else has put there: what is no file is not waited for, and never read."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

__all__ = ["open_regular"]


def open_regular(path: Path, *, follow: bool = False) -> BufferedReader:
    """Open a file for reading; a pipe, which may have no writer, or a device, which may have no end, is none.

    Args:
        path: The file; what it was when it was listed does not count.
        follow: Whether a link to a file is one.

    Raises:
        OSError: It cannot be opened, or is no file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is no file", str(path))
