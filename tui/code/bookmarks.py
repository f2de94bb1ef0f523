"""Bookmarks in the files of a submission: kept over a restart, and by their line's text when a file changes.

They are the reader's own and lie in the user's state folder; nothing of them is in a scorecard.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from judge_tui.judging.read_only import holds
from judge_tui.tui.kept import rescue

__all__ = ["Bookmark", "Bookmarks"]

_MOST = 500
_LONGEST = 200


class Bookmark(Struct, frozen=True):
    """A line: its file, its 0-based number, and the beginning of its text without indentation."""

    file: str
    line: int
    text: str


class Bookmarks:
    """The bookmarks of one submission.

    Args:
        folder: The submission's folder, whose bookmarks they are.
    """

    def __init__(self, folder: Path) -> None:
        self._path = rescue.place(folder, "bookmarks", ".json")
        self._all: list[Bookmark] = self._read()

    def __iter__(self) -> Iterator[Bookmark]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def within(self, file: str) -> list[int]:
        """Lines of a file that have one, ascending."""
        return sorted({mark.line for mark in self._all if mark.file == file})

    def toggle(self, file: str, line: int, text: str) -> bool:
        """Set a bookmark on a line or take it away; whether there is one now."""
        kept = [mark for mark in self._all if (mark.file, mark.line) != (file, line)]
        added = len(kept) == len(self._all)
        if added:
            kept.append(Bookmark(file, line, _said(text)))
        self._all = sorted(kept[-_MOST:], key=lambda mark: (mark.file, mark.line))
        return added

    def renew(self) -> None:
        """Take in what another window has saved meanwhile."""
        self._all = self._read()

    def settle(self, file: str, lines: Sequence[str]) -> None:
        """Move a file's bookmarks to where their lines stand now; a line that is gone keeps its number."""
        settled: list[Bookmark] = []
        places: dict[str, list[int]] = {}
        for mark in self._all:
            if mark.file == file and not _stands(lines, mark.line, mark.text):
                if not places:
                    for number, line in enumerate(lines):
                        places.setdefault(_said(line), []).append(number)
                found = places.get(mark.text, []) if mark.text else []
                near = min(found, key=lambda n: abs(n - mark.line), default=min(mark.line, len(lines) - 1))
                settled.append(Bookmark(file, near, mark.text))
            else:
                settled.append(mark)
        self._all = settled

    def save(self) -> None:
        """Write them down; what is wrong with the state folder costs bookmarks and nothing else."""
        if holds():
            return
        raw = [{"file": mark.file, "line": mark.line, "text": mark.text} for mark in self._all]
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_suffix(".tmp")
            temporary.write_text(json.dumps(raw), "utf-8")
            os.replace(temporary, self._path)

    def _read(self) -> list[Bookmark]:
        with suppress(OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raw = json.loads(self._path.read_text("utf-8"))
            return [Bookmark(str(one["file"]), max(int(one["line"]), 0), str(one["text"])) for one in raw]
        return []


def _said(text: str) -> str:
    return text[: 10 * _LONGEST].strip()[:_LONGEST]


def _stands(lines: Sequence[str], number: int, text: str) -> bool:
    return number < len(lines) and _said(lines[number]) == text
