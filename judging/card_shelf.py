"""The scorecards of a workspace as one command sees them: each file is read once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from judge_tui.judging.card import Scorecard
from judge_tui.judging.workspace import Workspace

__all__ = ["CardShelf"]


class CardShelf:
    """Scorecards, read when they are first asked for.

    Args:
        workspace: Where they are.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._read: dict[str, tuple[tuple[Scorecard, ...], dict[tuple[str, str], str]]] = {}

    def on(self, task: str, faults: dict[tuple[str, str], str] | None = None) -> tuple[Scorecard, ...]:
        """All scorecards on a task, as :meth:`~judge_tui.judging.workspace.Workspace.scorecards` gives them.

        Args:
            task: Its id.
            faults: Where given, it takes what is wrong, by (model, task).

        Raises:
            WorkspaceError: One of them is malformed, and nobody takes that.
        """
        if task not in self._read:
            troubles: dict[tuple[str, str], str] = {}
            with _no_collection():
                self._read[task] = self._workspace.scorecards(task, troubles), troubles
        cards, troubles = self._read[task]
        if faults is not None:
            for place, told in troubles.items():
                faults.setdefault(place, told)
        elif troubles:
            # says what is wrong as an error
            return self._workspace.scorecards(task)
        return cards


@contextmanager
def _no_collection() -> Iterator[None]:
    """Many values are made that stay: to look for garbage among them takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
