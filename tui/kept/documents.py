"""What a judge writes, as far as saving and remembering it goes: how it is read, written and told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from judge_tui.judging.scorecard import (
    FileStamp,
    Scorecard,
    parse_scorecard,
    render_scorecard,
    save_scorecard,
)
from judge_tui.judging.taking_back import taken_back

__all__ = ["SCORECARD", "Document"]

Value = TypeVar("Value")


class Document(Struct, Generic[Value], frozen=True):
    """A kind of document.

    Attributes:
        parse: Bytes and the file that they are of → value, to go on with it; raises ``JudgeError``, of those
            ``NewerSchema`` for what a newer judge-tui has written.
        render: Value → text.
        save: File, value, and the stamp of what is believed to be on disk → stamp of what is there now.
        taken_back: Value before a change, right after it, and now, others having changed it since → now
            without that change; ``None`` where the same was changed again.
    """

    parse: Callable[[bytes, Path], Value]
    render: Callable[[Value], str]
    save: Callable[[Path, Value, FileStamp | None], FileStamp | None]
    taken_back: Callable[[Value, Value, Value], Value | None] = lambda before, after, now: None


SCORECARD: Document[Scorecard] = Document(parse_scorecard, render_scorecard, save_scorecard, taken_back)
