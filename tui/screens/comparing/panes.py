"""The code panes of a comparison, and which of them the reader is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judge_tui.tui.session import Session
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView

__all__ = ["Panes"]


class Panes(Sequence[CodePane]):
    """Two or three code panes, in the order of the screen.

    Args:
        session: What they show.

    Attributes:
        at: Index of the one that is or was in focus last.
    """

    def __init__(self, session: Session) -> None:
        self._panes = tuple(
            CodePane(submission, index, session.titles[index], session.hide)
            for index, submission in enumerate(session.submissions)
        )
        self.at = 0

    def __getitem__(self, index: int) -> CodePane:  # type: ignore[override]
        return self._panes[index]

    def __len__(self) -> int:
        return len(self._panes)

    def __iter__(self) -> Iterator[CodePane]:
        return iter(self._panes)

    @property
    def current(self) -> CodePane:
        """The one that the reader is in."""
        return self._panes[self.at]

    def showing(self, view: CodeView) -> CodePane:
        """The pane of a view."""
        return next(pane for pane in self._panes if pane.view is view)
