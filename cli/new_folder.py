"""Making a folder of files: all of it, or nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError

__all__ = ["shown_path", "write_new"]


def write_new(target: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder; what fails leaves nothing behind of it.

    Args:
        target: The folder, which is not there yet, or empty.
        files: Relative POSIX path → content.

    Raises:
        WorkspaceError: It holds something, or cannot be written.
    """
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for name, data in files.items():
            file = partial / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        # over an empty folder, and over nothing else
        partial.rename(target)
    except OSError as error:
        raise WorkspaceError(
            f"cannot be made: {error.strerror}.", hint="Nothing was made.", file=target
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def shown_path(path: Path) -> str:
    """A path as it is typed in the current folder, where it lies below that; else the whole."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative
