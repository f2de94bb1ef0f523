"""The scoreboard into a file on disk, and what is to be said of that."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.export import BEGIN, END, export_scoreboard
from judge_tui.judging.read_once import ReadOnce, no_collection
from judge_tui.judging.refusals import newer_cards
from judge_tui.judging.scoreboard import sealed_cards
from judge_tui.judging.storage import FileStamp, write_atomically
from judge_tui.judging.strays import strays_on_the_board, unread_matchups
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace

__all__ = ["Export", "publish"]


class Export(Struct, frozen=True):
    """What an export came to.

    Attributes:
        stale: Whether the file held another scoreboard than the present one.
        sealed: Scorecards that are left out until their judge has revealed the names.
        strays: What stays in its file and is on no board, a sentence each.
        newer: Scorecards of a newer schema, which may say more than is on the board, a sentence each.
    """

    stale: bool
    sealed: int
    strays: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()

    @property
    def left_out(self) -> str:
        """What is not on the board, one sentence; empty when nothing is missing."""
        if not self.sealed:
            return ""
        return (
            f"{counted(self.sealed, 'scorecard')} of blind comparisons left out: "
            "the names are not revealed yet."
        )


def publish(readme: Path, workspace: Workspace, *, write: bool = True) -> Export:
    """Write the present scoreboard between the markers of a file.

    Args:
        readme: The file.
        workspace: Where the scorecards are.
        write: Whether it is written; else it is only compared.

    Raises:
        WorkspaceError: The file cannot be read or written or has not its two markers, or a scorecard is
            malformed.
    """
    before = _read(readme)
    workspace = ReadOnce.of(workspace)
    try:
        with no_collection():
            after = export_scoreboard(before, workspace)
    except WorkspaceError as error:
        error.file = error.file or str(readme)
        raise
    sealed = len(sealed_cards(workspace))
    if write and after != before:
        if not os.access(readme, os.W_OK):
            # replaced by another file it would not even be noticed that this one was not to be written
            raise WorkspaceError("is read-only.", hint="Nothing was changed on disk.", file=readme)
        write_atomically(readme, after, FileStamp.of(before))
    strays = (*strays_on_the_board(workspace), *unread_matchups(workspace))
    return Export(after != before, sealed, strays, newer_cards(workspace))


def _read(readme: Path) -> bytes:
    try:
        if not stat.S_ISREG(mode := readme.stat().st_mode):
            what = "a folder" if stat.S_ISDIR(mode) else "no file"
            raise WorkspaceError(f"is {what}: the scoreboard goes into a file.", file=readme)
        return readme.read_bytes()
    except FileNotFoundError as error:
        hint = f"Make it first, with {BEGIN} and {END} on lines of their own."
        raise WorkspaceError("there is no such file.", hint=hint, file=readme) from error
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=readme) from error
