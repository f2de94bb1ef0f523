"""What of a comparison is in view at a size, and where the focus goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.screen import Screen

from judge_tui.tui.look.layout import Arrangement, Situation, Wishes, arrange
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.rubric_pane import RubricPane

__all__ = ["CompareLayout"]


class CompareLayout(Screen[None]):
    """The part of the comparison that shows, hides and zooms."""

    session: Session
    panes: list[CodePane]
    rubric_pane: RubricPane
    checks_pane: ChecksPane
    wishes: Wishes
    _pane: int

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def _hint(self) -> None: ...

    def on_resize(self) -> None:
        self._arrange()

    @property
    def arrangement(self) -> Arrangement:
        """What is in view at this size."""
        return arrange(self._situation)

    @property
    def _situation(self) -> Situation:
        return Situation(*self.size, len(self.panes), self._pane, self.wishes, self._part)

    def _arrange(self) -> None:
        now = self.arrangement
        columns = dict(zip(now.panes, now.columns, strict=True))
        for index, pane in enumerate(self.panes):
            pane.display = index in now.panes
            # even panes share what there is by themselves, while the terminal changes its size too
            pane.styles.width = f"{max(columns.get(index, 1), 1)}fr" if self.wishes.sizes.shares else "1fr"
            pane.set_class(bool(now.panes) and index != now.panes[0], "-next")
            pane.widen(now.sidebar)
        self.query_one("#body").display = bool(now.panes or now.rubric)
        self.rubric_pane.display = now.rubric > 0
        self.rubric_pane.styles.width = now.rubric if now.panes else "1fr"
        self.checks_pane.display = now.checks > 0
        self.checks_pane.styles.height = now.checks
        self._hint()

    def _wish(self, **changes: object) -> None:
        # replace knows the fields by their names alone
        self.wishes = replace(self.wishes, **changes)
        self._arrange()

    @property
    def _part(self) -> str:
        focused = self.focused
        if focused is self.rubric_pane.lines:
            return "rubric"
        return "checks" if focused is self.checks_pane.rows else "code"

    def focus_code(self, index: int) -> None:
        """Focus a code pane and bring it into view."""
        self._pane = index
        if self.wishes.zoom not in ("", "code"):
            self._wish(zoom="")
        self._arrange()
        self.panes[index].view.focus()

    def action_code(self, index: int) -> None:
        if index < len(self.panes):
            self.focus_code(index)

    def action_score(self) -> None:
        self._wish(rubric=True, zoom="rubric" if self.wishes.zoom == "rubric" else "")
        # a hidden widget cannot take the focus
        self.rubric_pane.display = True
        self.rubric_pane.lines.focus()

    def action_back(self) -> None:
        if self._part != "code":
            zoom = "" if self.wishes.zoom else self.wishes.zoom
            # from the rubric to the code of what is scored
            pane = self.session.scored if self._part == "rubric" else self._pane
            self._wish(rubric=None if self.wishes.rubric else self.wishes.rubric, zoom=zoom)
            self.focus_code(pane)

    def action_checks(self) -> None:
        wanted = None if self.wishes.checks is None else True
        self._wish(checks=wanted, zoom="checks" if self.wishes.zoom == "checks" else "")
        # a hidden widget cannot take the focus
        self.checks_pane.display = True
        self.checks_pane.rows.focus()

    def action_pane(self, step: int) -> None:
        stops = len(self.panes) + 2
        at = {"rubric": len(self.panes), "checks": len(self.panes) + 1}.get(self._part, self._pane)
        to = (at + step) % stops
        if to < len(self.panes):
            self.focus_code(to)
        elif to == len(self.panes):
            self.action_score()
        else:
            self.action_checks()

    def action_show_part(self, part: str) -> None:
        now = self.arrangement
        shown = {"rubric": now.rubric > 0, "checks": now.checks > 0, "sidebars": now.sidebar > 0}[part]
        if shown and self._part == part:
            self.focus_code(self._pane)
        self._wish(zoom="", **{part: not shown})
        if part == "rubric" and not shown and not self.arrangement.rubric:
            # too narrow for both: it is shown to who is in it
            self.action_score()

    def action_alone(self) -> None:
        self._wish(alone=not self.wishes.alone, zoom="")

    def action_zoom(self) -> None:
        self._wish(zoom="" if self.wishes.zoom else self._part)
