"""The scoreboard into a file on disk, and what is to be said of that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.export import BEGIN, END, export_scoreboard
from judge_tui.judging.scoreboard import sealed_cards
from judge_tui.judging.storage import FileStamp, write_atomically
from judge_tui.judging.workspace import Workspace

__all__ = ["Export", "publish"]


@dataclass(frozen=True, slots=True)
class Export:
    """What an export came to.

    Attributes:
        stale: Whether the file held another scoreboard than the present one.
        sealed: Scorecards that are left out until their judge has revealed the names.
    """

    stale: bool
    sealed: int

    @property
    def left_out(self) -> str:
        """What is not on the board, one sentence; empty when nothing is missing."""
        if not self.sealed:
            return ""
        return (
            f"{self.sealed} scorecard{'s' if self.sealed > 1 else ''} of blind comparisons left out: "
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
    try:
        after = export_scoreboard(before, workspace)
    except WorkspaceError as error:
        error.file = error.file or str(readme)
        raise
    sealed = len(sealed_cards(workspace))
    if write and after != before:
        write_atomically(readme, after, FileStamp.of(before))
    return Export(after != before, sealed)


def _read(readme: Path) -> bytes:
    try:
        return readme.read_bytes()
    except FileNotFoundError as error:
        hint = f"Make it first, with {BEGIN} and {END} on lines of their own."
        raise WorkspaceError("there is no such file.", hint=hint, file=readme) from error
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=readme) from error
