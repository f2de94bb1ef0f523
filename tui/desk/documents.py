"""What a judge writes, as far as saving and remembering it goes: how it is read, written and told apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.matchup import Matchup, Matchups, parse_matchups, render_matchups, save_matchup
from judge_tui.judging.scorecard import (
    FileStamp,
    Scorecard,
    parse_scorecard,
    render_scorecard,
    save_scorecard,
)

__all__ = ["SCORECARD", "Document", "matchup_document"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Document(Generic[Value]):
    """A kind of document.

    Attributes:
        parse: Bytes and the file that they are of → value; raises ``JudgeError``.
        render: Value → text.
        save: File, value, and the stamp of what is believed to be on disk → stamp of what is there now.
    """

    parse: Callable[[bytes, Path], Value]
    render: Callable[[Value], str]
    save: Callable[[Path, Value, FileStamp | None], FileStamp | None]


SCORECARD: Document[Scorecard] = Document(parse_scorecard, render_scorecard, save_scorecard)


def matchup_document(path: Path, head: Matchups, models: tuple[str, ...]) -> Document[Matchup]:
    """One matchup in a file of several: the judge's own, whatever was published beside it.

    Args:
        path: The file.
        head: Task and judge.
        models: Whose matchup.
    """

    def parse(data: bytes, file: Path) -> Matchup:
        whole = parse_matchups(data, file)
        own = whole.between(models)
        # an earlier version wrote the judge's words under a published source
        borrowed = whole.published(models) if own.blank else ()
        if borrowed:
            return replace(borrowed[0], source="")
        if whole.matchups and own.blank:
            raise WorkspaceError(f"holds no matchup of {', '.join(models)}.", file=file)
        return own

    def render(matchup: Matchup) -> str:
        return render_matchups(Matchups(head.task, head.judge, () if matchup.blank else (matchup,)))

    def save(_: Path, matchup: Matchup, expected: FileStamp | None) -> FileStamp | None:
        return save_matchup(path, matchup, head, expected)

    return Document(parse, render, save)
