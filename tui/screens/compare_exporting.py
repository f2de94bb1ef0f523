"""The scoreboard, exported from a comparison: what was changed in it comes first."""

from __future__ import annotations

from textual.screen import Screen

from judge_tui.tui.session import Session

__all__ = ["CompareExporting"]


class CompareExporting(Screen[None]):
    """The part of the comparison that exports the scoreboard."""

    session: Session

    def action_export(self) -> None:
        from judge_tui.tui.screens.export_prompt import ask_to_export

        if self.session.blindfold.active:
            told = "The scoreboard tells names: it can be exported here once they are revealed."
            self.notify(told, severity="warning", markup=False, timeout=5)
            return
        ask_to_export(self, self.session.workspace, self._all_kept)

    def _all_kept(self) -> str:
        """Bring every change to disk; why one is not there, else nothing."""
        self.session.flush()
        return "what was changed last is not saved." if self.session.unsaved() else ""
