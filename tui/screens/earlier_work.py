"""What is said of unsaved work that earlier runs have left."""

from __future__ import annotations

from pathlib import Path

__all__ = ["told_of_damage", "told_of_earlier_work", "told_of_newer_work"]


def told_of_damage(place: Path) -> str:
    """A sentence on work that cannot be read.

    Args:
        place: Where it stands now.
    """
    return f"Unsaved work of an earlier run cannot be read: it is damaged, and stands in {place}."


def told_of_newer_work(place: Path) -> str:
    """A sentence on work that another version has to take up.

    Args:
        place: Where it stands.
    """
    return f"Unsaved work of a newer judge-tui waits in {place} until this one is updated."


def told_of_earlier_work(runs: int, what: str, *, behind: bool, undo: str, settle: str) -> str:
    """A sentence on work that was taken up.

    Args:
        runs: Of how many runs it is.
        what: What it was done to: ``"scorecard"``, ``"matchup"``.
        behind: Whether what is on disk has been changed since.
        undo: The key that takes a step back.
        settle: The key that asks about what both have changed.
    """
    work = "Unsaved work of an earlier run" if runs == 1 else f"Unsaved work of {runs} earlier runs"
    shown = "shown" if runs == 1 else "shown, the newest where they differ"
    older = "" if runs == 1 else f" {undo} goes back to what is older."
    if behind:
        asked = f"but the {what} on disk is newer: {settle} asks about what both have changed."
        return f"{work} is kept, and {shown}, {asked}{older}"
    if runs > 1:
        return f"{work} is back in the {what}, the newest where they differ;{older}"
    return f"{work} is back in the {what}; {undo} takes it away again."
