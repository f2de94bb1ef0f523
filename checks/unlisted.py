"""What lies in a submission's folder and is no part of it: told and counted, lest it be taken for one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

__all__ = ["Unlisted", "escaped", "is_text", "sentence", "unlisted"]

#: So many are looked for at most, and so many are named in a sentence.
_MOST, _NAMED = 2_000, 4


class Unlisted(Struct, frozen=True):
    r"""A file, or a folder behind a link, that no list of files has.

    Attributes:
        name: Relative path; bytes that are not UTF-8 are escaped, as ``\xff.py``.
        why: What it is.
    """

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name} ({self.why})"


def is_text(name: str) -> bool:
    """Whether a name is UTF-8, so that a report can carry it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def escaped(name: str) -> str:
    """A name as a report can carry it."""
    return name if is_text(name) else os.fsencode(name).decode("utf-8", "backslashreplace")


def unlisted(
    folder: Path, looked_into: Callable[[str], bool], passed: Callable[[str], bool]
) -> list[Unlisted]:
    """Links, pipes and names that are not UTF-8, in the order of their names.

    Args:
        folder: The submission's folder; one that is not there has nothing.
        looked_into: Whether a folder of a name is part of submissions.
        passed: Whether a file of a name is.
    """
    found: list[Unlisted] = []
    for where, names, files in os.walk(folder):
        names[:] = sorted(filter(looked_into, names))
        for name in (*(n for n in names if Path(where, n).is_symlink()), *filter(passed, files)):
            path = Path(where, name)
            relative = path.relative_to(folder).as_posix()
            if why := _why(path, relative):
                found.append(Unlisted(escaped(relative), why))
        if len(found) > _MOST:
            break
    return sorted(found, key=lambda one: one.name)


def _why(path: Path, relative: str) -> str:
    if path.is_symlink():
        return "a link"
    if not path.is_file():
        return "no file"
    return "" if is_text(relative) else "its name is not UTF-8"


def sentence(left_out: Iterable[Unlisted]) -> str:
    """What is left out, for a reader; empty where nothing is."""
    told = list(map(str, left_out))
    if not told:
        return ""
    more = len(told) - _NAMED
    named = ", ".join(told[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    count = "1 file is" if len(told) == 1 else f"{len(told)} files are"
    return f"{count} no part of the submission: {named}."
