"""What stands in the folders of a workspace, and what cannot be read of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError

__all__ = ["documents_in", "folders_in", "holds_folders", "is_there", "readable_in"]


def folders_in(folder: Path) -> tuple[str, ...]:
    """Names of the folders in a folder, sorted; hidden ones, Python's own and what is not there are none.

    Raises:
        WorkspaceError: It cannot be read.
    """
    try:
        found = [p.name for p in folder.iterdir() if not p.name.startswith((".", "__")) and p.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=folder) from error
    return tuple(sorted(found))


def holds_folders(folder: Path) -> bool:
    """Whether a model's folder has one for a task; where that cannot be read, it is told by who reads it."""
    try:
        return bool(folders_in(folder))
    except WorkspaceError:
        return True


def readable_in(folder: Path) -> tuple[str, ...]:
    """Folders in one of many: who asks for what is in it is told that it cannot be read, all others go on."""
    with suppress(WorkspaceError):
        return folders_in(folder)
    return ()


def documents_in(folder: Path) -> Sequence[Path]:
    """What is called ``*.toml`` in a folder, sorted.

    Raises:
        WorkspaceError: It cannot be read.
    """
    try:
        return sorted(p for p in folder.glob("*.toml") if not p.name.startswith("."))
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=folder) from error


def is_there(path: Path) -> bool:
    """Whether something has that name, a link that leads nowhere included."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=path) from error
    return True
