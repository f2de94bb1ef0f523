"""Where the reader of a comparison is, and going there again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.look.layout import Sizes, Wishes
from judge_tui.tui.past import Past
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.code_pane import CodePane

__all__ = ["CompareResuming"]


class CompareResuming(Screen[None]):
    """The part of the comparison that tells and takes up where the reader was."""

    session: Session
    panes: list[CodePane]
    wishes: Wishes
    _pane: int

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def focus_code(self, index: int) -> None: ...
        def take_sizes(self, sizes: Sizes) -> None: ...

    def whereabouts(self) -> Past:
        """The file and line of each pane, which was read last, and how large the parts are."""
        places = {pane.submission.model: (pane.file, pane.view.cursor) for pane in self.panes if pane.file}
        models = tuple(submission.model for submission in self.session.submissions)
        focus = models[self._pane]
        if self.session.blindfold.active:
            # the list of past comparisons must not tell who sits where, nor whose code was read last
            models, focus = tuple(sorted(models)), ""
        return Past(self.session.task, models, places=places, focus=focus, sizes=self.wishes.sizes)

    def resume(self, past: Past) -> None:
        """Open the files that were in view, where they were read; what is gone stays as it is."""
        self.take_sizes(past.sizes)
        for index, pane in enumerate(self.panes):
            file, line = past.places.get(pane.submission.model, ("", 0))
            if file in pane.submission.files:
                pane.open(file, line)
            if pane.submission.model == past.focus:
                self.focus_code(index)
