"""Whole documents, from a comparison: what the task asks for, the scoreboard, reports."""

from __future__ import annotations

from textual.screen import Screen

from judge_tui.tui.code.jumps import Place
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.session import Session

__all__ = ["CompareExporting"]


class CompareExporting(Screen[None]):
    """The part of the comparison that shows the statement, exports the scoreboard, and reports."""

    session: Session
    places: Places

    def action_export(self) -> None:
        from judge_tui.tui.screens.export_prompt import ask_to_export

        if self.session.blindfold.active:
            told = "The scoreboard tells names: it can be exported here once they are revealed."
            self.notify(told, severity="warning", markup=False, timeout=5)
            return
        ask_to_export(self, self.session.workspace, self._all_kept)

    def action_statement(self) -> None:
        """What the task asks for, in words."""
        from judge_tui.tui.screens.statement import show_statement

        show_statement(self, self.session.workspace, self.session.task, self.session.hide)

    def action_report(self) -> None:
        """What was scored and compared here, as a report."""
        from judge_tui.judging.summaries.asked import SHAPES, Asked
        from judge_tui.tui.screens.report import ReportScreen

        if self.session.blindfold.active:
            told = "A report tells names: it can be read here once they are revealed."
            self.notify(told, severity="warning", markup=False, timeout=5)
            return
        models = tuple(submission.model for submission in self.session.submissions)
        asked = Asked("two-way" if len(models) == 2 else "head-to-head", models, (self.session.task,))
        shapes = [shape for shape in SHAPES if shape != "combined"]
        screen = ReportScreen(self.session.workspace, asked, self._all_kept, shapes, self.session.judge)
        self.app.push_screen(screen, self._to_reported)

    def _to_reported(self, place: tuple[str, str, int] | None) -> None:
        """Go to a line that a report shows."""
        if place is None:
            return
        title, file, line = place
        titles = [self.session.workspace.model_title(one.model) for one in self.session.submissions]
        if title in titles:
            self.places.visit(Place(titles.index(title), file, line - 1))

    def _all_kept(self) -> str:
        """Bring every change to disk; why one is not there, else nothing."""
        self.session.flush()
        return "what was changed last is not saved." if self.session.unsaved() else ""
