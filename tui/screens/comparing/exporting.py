"""Whole documents, from a comparison: the scoreboard, reports."""

from __future__ import annotations

from functools import partial

from textual.screen import Screen

from judge_tui.judging.summaries.asked import SHAPES, Asked
from judge_tui.tui.code.jumps import Place
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.screens.export_prompt import ask_to_export
from judge_tui.tui.screens.report import ReportScreen
from judge_tui.tui.session import Session

__all__ = ["export", "report"]


def export(screen: Screen[None], session: Session) -> None:
    """Ask for a file, and write the scoreboard into it.

    Args:
        screen: Where it is asked.
        session: What is compared.
    """
    if session.blindfold.active:
        told = "The scoreboard tells names: it can be exported here once they are revealed."
        screen.notify(told, severity="warning", markup=False, timeout=5)
        return
    ask_to_export(screen, session.workspace, partial(_all_kept, session))


def report(screen: Screen[None], session: Session, places: Places) -> None:
    """Show what was scored and compared here, as a report.

    Args:
        screen: What it opens over.
        session: What is compared.
        places: Goes to a line that the report shows.
    """
    if session.blindfold.active:
        told = "A report tells names: it can be read here once they are revealed."
        screen.notify(told, severity="warning", markup=False, timeout=5)
        return
    models = tuple(submission.model for submission in session.submissions)
    asked = Asked("two-way" if len(models) == 2 else "head-to-head", models, (session.task,))
    shapes = [shape for shape in SHAPES if shape != "combined"]

    def to_reported(place: tuple[str, str, int] | None) -> None:
        if place is None:
            return
        title, file, line = place
        titles = [session.workspace.model_title(model) for model in models]
        if title in titles:
            places.visit(Place(titles.index(title), file, line - 1))

    opened = ReportScreen(session.workspace, asked, partial(_all_kept, session), shapes, session.judge)
    screen.app.push_screen(opened, to_reported)


def _all_kept(session: Session) -> str:
    """Bring every change to disk; why one is not there, else nothing."""
    session.flush()
    return "what was changed last is not saved." if session.unsaved() else ""
