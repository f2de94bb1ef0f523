"""A workspace as one command sees it: what it was asked for once, it answers again without looking."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property

from judge_tui.judging.card import Scorecard
from judge_tui.judging.workspace import Workspace

__all__ = ["ReadOnce", "no_collection"]

#: Methods of which an answer holds as long as a command runs.
_KEPT = (
    "answers", "attempts", "challenge", "contestants", "judging", "matchups", "model_title", "models",
    "rubric", "rubric_path", "submission", "submitted", "tasks",
)  # fmt: skip


class ReadOnce(Workspace, frozen=True, dict=True):
    """A workspace of which each file is read once: for a command, never for a screen that stays open."""

    def __post_init__(self) -> None:
        for name in _KEPT:
            self.__dict__[name] = cache(getattr(self, name))

    @classmethod
    def of(cls, workspace: Workspace) -> ReadOnce:
        """The same workspace; one that is read once already is handed back."""
        if isinstance(workspace, ReadOnce):
            return workspace
        return cls(workspace.root, workspace.submissions, workspace.bindings)

    @cached_property
    def _cards(self) -> dict[str, tuple[tuple[Scorecard, ...], dict[tuple[str, str], str]]]:
        return {}

    def scorecards(
        self, task: str, faults: dict[tuple[str, str], str] | None = None
    ) -> tuple[Scorecard, ...]:
        """As :meth:`~judge_tui.judging.workspace.Workspace.scorecards`."""
        if task not in self._cards:
            troubles: dict[tuple[str, str], str] = {}
            with no_collection():
                self._cards[task] = super().scorecards(task, troubles), troubles
        cards, troubles = self._cards[task]
        if faults is not None:
            for place, told in troubles.items():
                faults.setdefault(place, told)
        elif troubles:
            # says what is wrong as an error
            return super().scorecards(task)
        return cards


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage: where many values are made that stay, that takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
