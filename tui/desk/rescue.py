"""Unsaved work: what could not be written to its file is kept in the user's state folder.

A read-only workspace or an unanswered conflict must cost nobody a sentence: the next
start finds the card, or the matchup, here.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging.storage import Conflict, FileStamp, read_bytes, write_atomically
from judge_tui.tui.desk.documents import SCORECARD, Document

__all__ = ["Kept", "drop", "keep", "place", "rescued", "set_aside", "taken_up"]

#: The first line of what is kept says what was on disk when it was begun; a comment to every TOML reader.
_BASE = b"# begun on: "
_NO_FILE = b"no file"
#: What is never on disk.
_NEVER = FileStamp("unknown")


@dataclass(frozen=True, slots=True)
class Kept:
    """Unsaved work of an earlier run.

    Attributes:
        card: The card, or the matchup.
        stamp: What must be on disk for it to be saved unasked.
        behind: Whether something else is on disk, so that the judge has to choose.
    """

    card: Any
    stamp: FileStamp | None
    behind: bool


def place(path: Path, kind: str, suffix: str) -> Path:
    """Where something that belongs to a scorecard is kept in the user's state folder."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return state / "judge-tui" / kind / f"{name}{suffix}"


def _place(path: Path) -> Path:
    return place(path, "unsaved", ".toml")


def keep(path: Path, card: Any, base: FileStamp | None, document: Document[Any] = SCORECARD) -> Path | None:
    """Keep a card that could not be saved to ``path``; its place, or ``None`` when that fails too.

    Args:
        path: Its file.
        card: The card.
        base: What was on disk when it was begun; ``None`` for no file.
        document: What it is: a scorecard, or something else in its place.
    """
    kept = _place(path)
    begun = _NO_FILE if base is None else base.digest.encode()
    try:
        write_atomically(kept, _BASE + begun + b"\n" + document.render(card).encode())
    except Exception:  # whatever could not be written there is lost, and the judge is told so
        return None
    return kept


def rescued(path: Path, document: Document[Any] = SCORECARD) -> Any:
    """The card that an earlier run could not save to ``path``; ``None`` when there is none."""
    found = _found(path, document)
    return None if found is None else found[0]


def taken_up(
    path: Path, file: Path, on_disk: FileStamp | None, document: Document[Any] = SCORECARD
) -> Kept | None:
    """What an earlier run could not save, and whether the disk has gone on since; ``None`` for nothing.

    Args:
        path: What :func:`keep` was told.
        file: The file on disk.
        on_disk: What it holds now; ``None`` for nothing.
        document: What it is: a scorecard, or something else in its place.
    """
    found = _found(path, document)
    if found is None:
        return None
    card, data = found
    first, _, _ = data.partition(b"\n")
    if not first.startswith(_BASE):
        # kept by a version that did not say what was on disk: the younger of the two files is ahead
        behind = on_disk is not None and not _older(file, _place(path))
        return Kept(card, _NEVER if behind else on_disk, behind)
    begun = first.removeprefix(_BASE).strip()
    base = None if begun == _NO_FILE else FileStamp(begun.decode("ascii", "replace"))
    return Kept(card, base, base != on_disk)


def _found(path: Path, document: Document[Any]) -> tuple[Any, bytes] | None:
    kept = _place(path)
    try:
        data = read_bytes(kept)
        return None if data is None else (document.parse(data, kept), data)
    except (JudgeError, OSError):
        return None


def _older(one: Path, other: Path) -> bool:
    try:
        return one.stat().st_mtime_ns < other.stat().st_mtime_ns
    except OSError:
        return False


def drop(path: Path) -> None:
    """Forget the kept card: it is saved now."""
    with suppress(OSError):
        _place(path).unlink(missing_ok=True)


def set_aside(path: Path, data: bytes) -> Path:
    """Copy what a file holds into a new one beside it, or in the user's state folder; the copy's path.

    Raises:
        WorkspaceError: Neither can be written.
    """
    with suppress(WorkspaceError):
        return _copied(path.with_name(f"{path.name}.unreadable"), data)
    return _copied(place(path, "unreadable", ".toml"), data)


def _copied(wanted: Path, data: bytes) -> Path:
    number = 1
    while True:
        copy = wanted if number == 1 else wanted.with_name(f"{wanted.name}.{number}")
        try:
            write_atomically(copy, data, None)
        except Conflict:
            number += 1
        else:
            return copy
