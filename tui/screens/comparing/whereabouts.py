"""Where the reader of a comparison is, and going there again."""

from __future__ import annotations

from judge_tui.tui.past import Past
from judge_tui.tui.screens.comparing.layout import Layout
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import Session

__all__ = ["resume", "whereabouts"]


def whereabouts(session: Session, panes: Panes, layout: Layout) -> Past:
    """The file and line of each pane, which was read last, and how large the parts are."""
    places = {pane.submission.model: (pane.file, pane.view.cursor) for pane in panes if pane.file}
    models = tuple(submission.model for submission in session.submissions)
    focus = models[panes.at]
    if session.blindfold.active:
        # the list of past comparisons must not tell who sits where, nor whose code was read last
        models, focus = tuple(sorted(models)), ""
    return Past(session.task, models, places=places, focus=focus, sizes=layout.wishes.sizes)


def resume(past: Past, panes: Panes, layout: Layout) -> None:
    """Open the files that were in view, where they were read; what is gone stays as it is."""
    layout.wish(sizes=past.sizes)
    for index, pane in enumerate(panes):
        file, line = past.places.get(pane.submission.model, ("", 0))
        if file in pane.submission.files:
            pane.open(file, line)
        if pane.submission.model == past.focus:
            layout.focus_code(index)
