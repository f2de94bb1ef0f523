"""Unsaved work: what could not be written to its file is kept in the user's state folder.

A read-only workspace or an unanswered conflict must cost nobody a sentence: the next
start finds the card, or the matchup, here.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.storage import read_bytes, write_atomically
from judge_tui.tui.desk.documents import SCORECARD, Document

__all__ = ["drop", "keep", "place", "rescued"]


def place(path: Path, kind: str, suffix: str) -> Path:
    """Where something that belongs to a scorecard is kept in the user's state folder."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return state / "judge-tui" / kind / f"{name}{suffix}"


def _place(path: Path) -> Path:
    return place(path, "unsaved", ".toml")


def keep(path: Path, card: Any, document: Document[Any] = SCORECARD) -> Path | None:
    """Keep a card that could not be saved to ``path``; its place, or ``None`` when that fails too."""
    kept = _place(path)
    try:
        write_atomically(kept, document.render(card).encode())
    except (JudgeError, OSError):
        return None
    return kept


def rescued(path: Path, document: Document[Any] = SCORECARD) -> Any:
    """The card that an earlier run could not save to ``path``; ``None`` when there is none."""
    kept = _place(path)
    try:
        data = read_bytes(kept)
        return None if data is None else document.parse(data, kept)
    except (JudgeError, OSError):
        return None


def drop(path: Path) -> None:
    """Forget the kept card: it is saved now."""
    with suppress(OSError):
        _place(path).unlink(missing_ok=True)
