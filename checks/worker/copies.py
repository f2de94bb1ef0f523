"""A copy of a submission that it may write to: programs keep logs and figures beside themselves."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["writable_copy"]

#: Bytes that are copied at most; the scratch folder holds twice as much.
_MOST_BYTES = 128 << 20


def writable_copy(root: Path) -> Path:
    """Copy a submission's files, links and hidden files left out, into the scratch folder.

    Args:
        root: The submission's folder.

    Raises:
        OSError: There is no room, or no scratch folder.
    """
    copy = Path(tempfile.mkdtemp(prefix="copy-"), root.name)
    left = _MOST_BYTES
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".") and name != "__pycache__"]
        there = copy / Path(folder).relative_to(root)
        there.mkdir()
        for name in files:
            source = Path(folder, name)
            if name.startswith(".") or source.is_symlink() or not source.is_file():
                continue
            left -= source.stat().st_size
            if left < 0:
                raise OSError(f"{root.name} is larger than {_MOST_BYTES >> 20} MiB")
            # No modes: where the sandbox has no mounts of its own it refuses to set them.
            shutil.copyfile(source, there / name)
    return copy
