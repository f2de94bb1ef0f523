"""A folder, or a single file, as it lies on disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.checks.unlisted import escaped
from judge_tui.cli.bringing import brought
from judge_tui.cli.bringing.brought import Brought, Refused
from judge_tui.cli.bringing.gathering import Gathering

__all__ = ["from_folder", "one_file", "refuse_what_is_none"]

_PIECE = 1 << 20


def refuse_what_is_none(source: Path) -> None:
    """Refuse what is neither a file nor a folder.

    Raises:
        UsageError: It is not there, cannot be looked at, or is something else.
    """
    try:
        mode = source.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        if source.is_symlink():
            raise UsageError(f"{source} is a link that leads nowhere.") from error
        raise UsageError(f"there is no {source}.") from error
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}.") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UsageError(f"{source} is neither a file nor a folder.")


def one_file(source: Path) -> bytes:
    """The content of a file.

    Raises:
        Refused: It is too large.
        WorkspaceError: It cannot be read.
    """
    try:
        with open_regular(source, follow=True) as file:
            data = file.read(brought.MOST_BYTES + 1)
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=source) from error
    if len(data) > brought.MOST_BYTES:
        raise Refused(f"holds more than {brought.MOST_BYTES // 1_000_000} MB.")
    return data


def from_folder(source: Path) -> Brought:
    """The files of a folder; links and pipes are left out, as are hidden files and caches.

    Raises:
        Refused: It holds too much.
        WorkspaceError: Something in it cannot be read.
    """
    try:
        return _gathered(source).brought()
    except OSError as error:
        where = error.filename or source
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=where) from error


def _gathered(source: Path) -> Gathering:
    gathered = Gathering(unpacks=False)
    for folder, names, files in os.walk(source, onerror=_raised):
        inside = Path(folder).relative_to(source)
        names[:] = [name for name in sorted(names) if _is_looked_into(gathered, inside / name, source)]
        for name in sorted(files):
            relative, path = os.fspath(inside / name), Path(folder, name)
            if not (wanted := gathered.wants(relative)):
                continue
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                gathered.take(wanted, _pieces(path))
            else:
                gathered.leave(wanted, "a link" if stat.S_ISLNK(mode) else "no file")
    return gathered


def _is_looked_into(gathered: Gathering, relative: Path, source: Path) -> bool:
    if (source / relative).is_symlink():
        # a hidden one is not told as a link
        if gathered.wants_folder(escaped(os.fspath(relative))):
            gathered.leave(escaped(os.fspath(relative)), "a link")
        return False
    return gathered.wants_folder(os.fspath(relative))


def _pieces(path: Path) -> Iterator[bytes]:
    with open_regular(path) as file:
        while piece := file.read(_PIECE):
            yield piece


def _raised(error: OSError) -> None:
    # a folder that cannot be listed holds something all the same
    raise error
