"""Unsaved work: what could not be written to its file is kept in the user's state folder.

A read-only workspace or an unanswered conflict must cost nobody a sentence: the next
start finds the card, or the matchup, here. What a window keeps is its own while it is open;
what windows that have ended have kept is taken up by the next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError, NewerSchema, WorkspaceError
from judge_tui.checks.folders import user_folder
from judge_tui.judging.storage import Conflict, FileStamp, read_bytes, write_atomically
from judge_tui.tui.kept.documents import SCORECARD, Document
from judge_tui.tui.kept.kept_files import KeptFiles

__all__ = ["Kept", "Rescue", "every_kept", "joined", "place", "set_aside"]

#: The first line of what is kept says what was on disk when it was begun, and those behind it what that said;
#: comments to every TOML reader.
_BASE, _SAID = b"# begun on: ", b"#| "
_NO_FILE = b"no file"
#: What is never on disk.
_NEVER = FileStamp("unknown")


class Kept(Struct, frozen=True):
    """Unsaved work of an earlier run.

    Attributes:
        card: The card, or the matchup.
        stamp: What must be on disk for it to be saved unasked.
        behind: Whether something else is on disk, so that the judge has to choose.
        begun: What was on disk when it was begun; ``None`` for nothing, or where nobody knows.
    """

    card: Any
    stamp: FileStamp | None
    behind: bool
    begun: Any = None

    @property
    def told(self) -> bool:
        """Whether it is known what was changed in it."""
        return self.begun is not None or self.stamp is None


def joined(kept: Sequence[Kept], together: Callable[[Any, Any, Any], Any]) -> tuple[Kept, ...]:
    """Work of several runs, each with what those before it have changed as well.

    Args:
        kept: The work, the newest last.
        together: What an older one was begun on, it, and a newer one → the newer one with what only the older
            one has changed.
    """
    found: list[Kept] = []
    for number, one in enumerate(kept):
        card = one.card
        for older in reversed(kept[:number]):
            card = together(older.begun, older.card, card) if older.told else card
        found.append(replace(one, card=card))
    return tuple(found)


def place(path: Path, kind: str, suffix: str) -> Path:
    """Where something that belongs to a scorecard is kept in the user's state folder."""
    name = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return user_folder("STATE") / "judge-tui" / kind / f"{name}{suffix}"


def every_kept(path: Path, document: Document[Any] = SCORECARD) -> tuple[Any, ...]:
    """What any window could not save to ``path``, open or not; the newest first."""
    found: list[Any] = []
    for file in KeptFiles(_place(path)).all():
        with suppress(NewerSchema):
            if read := _read(file, document):
                found.append(read[0])
    return tuple(found)


class Rescue:
    """What this window keeps of one card, and what windows before it have kept.

    Args:
        path: The card's file; for a matchup, what it is called after.
        document: What it is: a scorecard, or something else in its place.

    Attributes:
        damaged: Where that stands now which was to be taken up and cannot be read.
        newer: What a newer judge-tui has kept, and is left to it.
    """

    def __init__(self, path: Path, document: Document[Any] = SCORECARD) -> None:
        self._path, self._document = path, document
        self.damaged: tuple[Path, ...] = ()
        self.newer: tuple[Path, ...] = ()
        self._files = KeptFiles(_place(path))

    def take_up(
        self,
        file: Path,
        on_disk: FileStamp | None,
        known: Callable[[Any], bool],
        *,
        every: bool = True,
    ) -> tuple[Kept, ...]:
        """What windows that have ended could not save, the newest last; it is this window's from now on.

        Args:
            file: The file on disk.
            on_disk: What it holds now; ``None`` for nothing.
            known: Whether the disk says just that; what it says is forgotten here.
            every: Take up all of it, and not only the newest: the rest stays for a later start.
        """
        found: list[Kept] = []
        for kept in self._files.claimed():
            try:
                read = _read(kept, self._document)
            except NewerSchema:
                self.newer += (kept,)
                self._files.leave(kept)
                continue
            if read is None:
                self.damaged += (self._files.set_aside(kept, place(self._path, "unreadable", ".toml")),)
                continue
            if known(read[0]):
                self._files.forget(kept)
                continue
            found.append(self._begun(*read, _older(file, kept), on_disk))
            if not every:
                break
        return tuple(reversed(found))

    def keep(self, card: Any, base: FileStamp | None, said: Any = None) -> Path | None:
        """Keep a card that could not be saved; its place, or ``None`` when that fails too.

        Args:
            card: The card.
            base: What was on disk when it was begun; ``None`` for no file.
            said: The card that this was; ``None`` where nobody knows.
        """
        begun = _NO_FILE if base is None else base.digest.encode()
        try:
            kept = self._files.own()
            if kept in self.newer:
                # the file of all windows, where nothing can be locked
                return None
            lines = [] if base is None or said is None else self._document.render(said).encode().split(b"\n")
            head = [_BASE + begun, *(_SAID + line for line in lines), b""]
            write_atomically(kept, b"\n".join(head) + self._document.render(card).encode())
        except Exception:  # whatever could not be written there is lost, and the judge is told so
            return None
        return kept

    def _begun(self, card: Any, data: bytes, younger: bool, on_disk: FileStamp | None) -> Kept:
        first, *lines = data.split(b"\n")
        if not first.startswith(_BASE):
            # kept by a version that did not say what was on disk: the younger of the two files is ahead
            behind = on_disk is not None and not younger
            return Kept(card, _NEVER if behind else on_disk, behind)
        begun = first.removeprefix(_BASE).strip()
        base = None if begun == _NO_FILE else FileStamp(begun.decode("ascii", "replace"))
        said = [line.removeprefix(_SAID) for line in takewhile(lambda line: line.startswith(_SAID), lines)]
        was = None
        if said:
            # then it is as if nobody knew
            with suppress(JudgeError, ValueError, RecursionError):
                was = self._document.parse(b"\n".join(said), self._path)
        return Kept(card, base, base != on_disk, was)

    def drop(self) -> None:
        """Forget what this window keeps or has taken up: it is saved now."""
        self._files.drop()

    def close(self) -> None:
        """Leave what is kept to the next start."""
        self._files.close()


def _place(path: Path) -> Path:
    return place(path, "unsaved", ".toml")


def _read(kept: Path, document: Document[Any]) -> tuple[Any, bytes] | None:
    try:
        data = read_bytes(kept)
        return None if data is None else (document.parse(data, kept), data)
    except NewerSchema:
        raise
    except (JudgeError, OSError, ValueError, RecursionError):
        return None


def _older(one: Path, other: Path) -> bool:
    try:
        return one.stat().st_mtime_ns < other.stat().st_mtime_ns
    except OSError:
        return False


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
