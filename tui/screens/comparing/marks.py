"""The lines of a comparison that notes and findings point at: marked, and gone to."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from judge_tui.checks.verdict import Verdict
from judge_tui.judging.placing import Placed
from judge_tui.tui.look.palette import KIND_MARKS, VERDICTS
from judge_tui.tui.screens.comparing.bookmarking import Bookmarking
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.screens.standing_signs import STANDINGS
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.code_lines import Mark
from judge_tui.tui.widgets.code_pane import CodePane

__all__ = ["Marks"]


class Marks:
    """Marks lines, and goes from one to the next.

    Args:
        session: Whose notes and findings they are.
        panes: The code.
        places: Goes to the next of some places.
        bookmarks: Shows bookmarks beside the marks.
    """

    def __init__(self, session: Session, panes: Panes, places: Places, bookmarks: Bookmarking) -> None:
        self._session, self._panes = session, panes
        self._places, self._bookmarks = places, bookmarks

    def mark(self, pane: CodePane) -> None:
        """Mark the lines of one pane."""
        marks: dict[int, Mark] = {}
        size = len(pane.source)
        for line, key in reversed(self.findings(pane)):
            if line < size:
                marks[line] = Mark("◆", VERDICTS[str(self._session.outcomes[key].verdict)][1])
        noted = _noted(self.notes(pane), size)
        # a finding of the same line stands behind the note's mark
        both = {line: replace(noted[line], beside=marks[line]) for line in marks.keys() & noted.keys()}
        pane.view.mark(marks | noted | both)
        self._bookmarks.show(pane)

    def notes(self, pane: CodePane) -> tuple[Placed, ...]:
        """Notes on the file in view, with where they are."""
        placed = (self._session.placed(pane.index, note) for note in self._session.notes(pane.index))
        return tuple(one for one in placed if pane.file and one.note.file == pane.file)

    def findings(self, pane: CodePane) -> list[tuple[int, tuple[str, str]]]:
        """Lines of the file in view that findings point at, 0-based, with the keys of their outcomes."""
        return [(line, key) for file, line, key in self._all_findings(pane) if file == pane.file]

    def _all_findings(self, pane: CodePane) -> list[tuple[str, int, tuple[str, str]]]:
        """Files and 0-based lines that findings point at, with the keys of their outcomes."""
        model = pane.submission.model
        return [
            (item.file, item.line - 1, key)
            for key, outcome in self._session.outcomes.items()
            if key[0] == model and outcome.verdict not in (Verdict.PASS, Verdict.SKIP)
            for item in outcome.evidence
            if item.file and item.line and item.ok is not True
        ]

    def step_note(self, step: int) -> None:
        """Go to the next note, in any file, or the one before."""
        pane = self._panes.current
        placed = [self._session.placed(pane.index, note).note for note in self._session.notes(pane.index)]
        places = [(note.file, note.lines[0] - 1) for note in placed if note.file and note.lines]
        self._places.step(pane, places, step, "note", "No note on lines of this submission.")

    def step_finding(self, step: int) -> None:
        """Go to the next finding, in any file, or the one before."""
        pane = self._panes.current
        places = [(file, line) for file, line, _ in self._all_findings(pane)]
        self._places.step(pane, places, step, "finding", "No check points at a line of this submission.")


@lru_cache(maxsize=8)
def _noted(notes: tuple[Placed, ...], size: int) -> dict[int, Mark]:
    """What notes mark of so many lines, for all to read; where one begins, that is what a line shows.

    One whose lines are others now, or that may be elsewhere, marks only where it begins.
    """
    marks: dict[int, Mark] = {}
    # a scorecard may name any line
    there = [one for one in notes if one.note.lines and one.note.lines[0] <= size]
    begun: dict[int, Mark] = {}
    for one in sorted(there, key=lambda one: one.standing == "there"):
        assert one.note.lines is not None
        glyph, tone = KIND_MARKS[one.note.kind]
        first, last = one.note.lines
        if one.standing == "there":
            marks |= dict.fromkeys(range(first, min(last, size)), Mark("▏", tone, continued=True))
        begun[first - 1] = Mark(STANDINGS.get(one.standing, glyph), tone)
    return marks | begun
