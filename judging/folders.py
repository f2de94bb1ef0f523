"""What stands in the folders of a workspace, and what cannot be read of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError

__all__ = [
    "documents_in",
    "folders_in",
    "is_inside",
    "is_there",
    "kept_inside",
    "readable_in",
    "stray_links",
]


def folders_in(folder: Path, tree: Path) -> tuple[str, ...]:
    """Names of the folders in a folder, sorted; hidden ones, Python's own and what is not there are none.

    Args:
        folder: Where.
        tree: What it belongs to: a link that leads out of it is no folder.

    Raises:
        WorkspaceError: It cannot be read.
    """
    try:
        found = [entry.name for entry in _folders(folder) if not _leads_out(entry, tree)]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=folder) from error
    return tuple(sorted(found))


def _folders(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [entry for entry in entries if not entry.name.startswith((".", "__")) and _is_folder(entry)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    # a link may lead in a circle
    return os.path.isdir(entry.path) if entry.is_symlink() else entry.is_dir()


def _leads_out(entry: os.DirEntry[str], tree: Path) -> bool:
    return entry.is_symlink() and not is_inside(Path(entry.path), tree)


def is_inside(path: Path, tree: Path) -> bool:
    """Whether a path, there or not, lies in a tree once all links are followed."""
    if _without_links(os.fspath(path), os.fspath(tree)):
        return True
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(tree))


def _without_links(path: str, tree: str) -> bool:
    """Whether a path goes on from that of a tree by names that are no links, which is quickly seen."""
    if not path.startswith(f"{tree}{os.sep}"):
        return False
    at = tree
    for name in path[len(tree) + 1 :].split(os.sep):
        at = f"{at}{os.sep}{name}"
        if name == os.pardir or os.path.islink(at):
            return False
    return True


def kept_inside(path: Path, tree: Path) -> Path:
    """A path, there or not, that no link leads out of a tree.

    Args:
        path: The path.
        tree: What it belongs to.

    Raises:
        WorkspaceError: Behind a link it lies elsewhere: it is neither read nor written.
    """
    if not is_inside(path, tree):
        raise WorkspaceError(
            "lies elsewhere, behind a link that leads out of the workspace: it is neither read nor written.",
            hint="Put the file itself in its place.",
            file=path,
        )
    return path


def stray_links(tree: Path) -> tuple[Path, ...]:
    """Folders of models and tasks that are none, since a link leads out of the tree there."""
    found: list[Path] = []
    with suppress(OSError):
        for model in _folders(tree):
            if _leads_out(model, tree):
                found.append(Path(model.path))
                continue
            with suppress(OSError):
                found += [Path(task.path) for task in _folders(Path(model.path)) if _leads_out(task, tree)]
    return tuple(sorted(found))


def readable_in(folder: Path, tree: Path) -> tuple[str, ...]:
    """Folders in one of many: who asks for what is in it is told that it cannot be read, all others go on."""
    with suppress(WorkspaceError):
        return folders_in(folder, tree)
    return ()


def documents_in(folder: Path) -> Sequence[Path]:
    """What is called ``*.toml`` in a folder, sorted.

    Raises:
        WorkspaceError: It cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(e.name for e in entries if e.name.endswith(".toml") and not e.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=folder) from error
    return [folder / name for name in names]


def is_there(path: Path) -> bool:
    """Whether something has that name, a link that leads nowhere included."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=path) from error
    return True
