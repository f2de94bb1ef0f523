"""Making a folder of files: all of it, or nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    target = target.absolute()
    try:
        there = target.is_dir()
        if there and any(target.iterdir()):
            raise WorkspaceError("is not empty, and nothing is overwritten.", file=shown_path(target))
        with _partial(target if there else target.parent, target.name) as partial:
            for name, data in files.items():
                file = partial / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
            _put(partial, target, there)
    except OSError as error:
        raise WorkspaceError(
            f"cannot be made: {error.strerror}.", hint="Nothing was made.", file=shown_path(target)
        ) from error


@contextmanager
def _partial(place: Path, name: str) -> Iterator[Path]:
    """The folder in which another is made before it is one, gone afterwards if it is still there."""
    partial = place / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _put(partial: Path, target: Path, there: bool) -> None:
    if not there:
        partial.rename(target)
        return
    # a folder that somebody stands in stays the same one
    put: list[Path] = []
    try:
        for path in sorted(partial.iterdir()):
            path.rename(target / path.name)
            put.append(target / path.name)
    except BaseException:
        for path in put:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        raise


def shown_path(path: Path) -> str:
    """A path as it is typed in the current folder, where it lies below that; else the whole."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative
