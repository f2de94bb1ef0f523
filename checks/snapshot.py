"""Snapshots: a submission as it was when it was looked at, and nothing else of its folder.

What is listed, digested, read and scanned is what a worker is shown: hidden files, links, caches, and what
has changed since, are in no snapshot.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from judge_tui.checks.errors import EngineError, WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.checks.temporary import new_folder, release

__all__ = ["MOST_BYTES", "copied", "released_with"]

#: Bytes of one submission at most.
MOST_BYTES = 1 << 30
_PIECE = 1 << 20


def copied(source: Path, names: Iterable[str]) -> tuple[Path, Mapping[str, str]]:
    """Copy files into a new folder of their own.

    Args:
        source: The folder that they are in.
        names: Their relative POSIX paths.

    Returns:
        The new folder; and name → why it could not be read, of those that could not: they are empty there.

    Raises:
        WorkspaceError: They are too large.
        EngineError: There is no room for them.
    """
    try:
        folder = new_folder("snapshot")
    except OSError as error:
        raise _no_room(source, error) from error
    try:
        return folder, _filled(folder, source, names)
    except OSError as error:
        release(folder)
        raise _no_room(source, error) from error
    except WorkspaceError:
        release(folder)
        raise


def _no_room(source: Path, error: OSError) -> EngineError:
    """The machine's fault, and nobody's verdict."""
    return EngineError(
        f"{source} cannot be copied to where it is judged: {error.strerror}.",
        hint="Make room in the folder of temporary files, or name another one in $TMPDIR.",
    )


def _filled(folder: Path, source: Path, names: Iterable[str]) -> Mapping[str, str]:
    troubles: dict[str, str] = {}
    left = MOST_BYTES
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as written:
            try:
                file = open_regular(source / name)
            except OSError as error:
                troubles[name] = f"cannot be read: {error.strerror}"
                continue
            with file:
                left -= _copied_file(file, written, left)
        if left < 0:
            raise WorkspaceError(
                f"is larger than {MOST_BYTES >> 30} GiB",
                hint="Leave build products and data sets out.",
                file=source,
            )
    return troubles


def _copied_file(source: BinaryIO, target: BinaryIO, most: int) -> int:
    """Copy a file until it ends, or more than so many bytes have come; how many did."""
    count = 0
    while count <= most and (piece := source.read(_PIECE)):
        target.write(piece)
        count += len(piece)
    return count


def released_with(owner: object, *folders: Path) -> None:
    """Remove folders once nothing refers to an object any more, or the program ends."""
    for folder in folders:
        weakref.finalize(owner, release, folder)
