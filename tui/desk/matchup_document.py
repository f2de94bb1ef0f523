"""A matchup as a document: one of several in its judge's file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.matchup import Matchup, Matchups, parse_matchups, render_matchups, save_matchup
from judge_tui.judging.scorecard import FileStamp
from judge_tui.tui.kept.documents import Document

__all__ = ["as_it_lies", "matchup_document", "name_of"]


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


def as_it_lies(path: Path) -> tuple[int, ...]:
    """What tells one state of a file from the next without reading it; empty where it is not there."""
    with suppress(OSError):
        told = path.stat()
        return told.st_mtime_ns, told.st_size, told.st_ino
    return ()


def name_of(path: Path, models: tuple[str, ...]) -> Path:
    """What journal and kept work of a matchup are called after; no two matchups share one."""
    if any("+" in model for model in models):
        # a folder name may hold a plus, never a slash
        return path.joinpath(*models)
    return path / "+".join(models)
