"""The parts of a comparison's screen: which are in view at a size, and where the focus goes."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from textual.screen import Screen

from judge_tui.tui.look.layout import Arrangement, Situation, Sizes, Wishes, arrange
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.rubric_pane import RubricPane

__all__ = ["Layout"]


class Layout:
    """Code, rubric and checks: shown, hidden, zoomed and put in focus.

    Args:
        screen: What they stand on.
        session: What is scored.
        panes: The code.
        rubric: The rubric's pane.
        checks: The checks' pane.
        sizes: How large they were left.
        arranged: Called when what is in view, or in focus, may be something else.

    Attributes:
        wishes: What the judge has asked for.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        panes: Panes,
        rubric: RubricPane,
        checks: ChecksPane,
        sizes: Sizes,
        arranged: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._panes = screen, session, panes
        self._rubric, self._checks = rubric, checks
        self._arranged = arranged
        self.wishes = Wishes(sizes=sizes)

    @property
    def arrangement(self) -> Arrangement:
        """What is in view at this size."""
        return arrange(self.situation)

    @property
    def situation(self) -> Situation:
        """What the arrangement follows from."""
        return Situation(*self._screen.size, len(self._panes), self._panes.at, self.wishes, self.in_focus)

    @property
    def in_focus(self) -> str:
        """``code``, ``rubric`` or ``checks``."""
        focused = self._screen.focused
        if focused is self._rubric.lines:
            return "rubric"
        return "checks" if focused is self._checks.rows else "code"

    def arrange(self) -> None:
        """Show what is to be in view."""
        now = self.arrangement
        columns = dict(zip(now.panes, now.columns, strict=True))
        for index, pane in enumerate(self._panes):
            pane.display = index in now.panes
            # even panes share what there is by themselves, while the terminal changes its size too
            pane.styles.width = f"{max(columns.get(index, 1), 1)}fr" if self.wishes.sizes.shares else "1fr"
            pane.set_class(bool(now.panes) and index != now.panes[0], "-next")
            pane.widen(now.sidebar)
        self._screen.query_one("#body").display = bool(now.panes or now.rubric)
        self._rubric.display = now.rubric > 0
        self._rubric.styles.width = now.rubric if now.panes else "1fr"
        self._checks.display = now.checks > 0
        self._checks.give(now.checks)
        self._arranged()

    def wish(self, **changes: object) -> None:
        """Show the parts otherwise: fields of :class:`~judge_tui.tui.look.layout.Wishes`."""
        # replace knows the fields by their names alone
        self.wishes = replace(self.wishes, **changes)
        self.arrange()

    # focus

    def focus_code(self, index: int) -> None:
        """Focus a code pane and bring it into view."""
        self._panes.at = index
        if self.wishes.zoom not in ("", "code"):
            self.wish(zoom="")
        self.arrange()
        self._panes[index].view.focus()

    def focus_rubric(self) -> None:
        """Focus the rubric and bring it into view."""
        self.wish(rubric=True, zoom="rubric" if self.wishes.zoom == "rubric" else "")
        # a hidden widget cannot take the focus
        self._rubric.display = True
        self._rubric.lines.focus()

    def focus_checks(self) -> None:
        """Focus the checks and bring them into view."""
        wanted = None if self.wishes.checks is None else True
        self.wish(checks=wanted, zoom="checks" if self.wishes.zoom == "checks" else "")
        # a hidden widget cannot take the focus
        self._checks.display = True
        self._checks.rows.focus()

    def back(self) -> None:
        """From another part to the code."""
        if self.in_focus != "code":
            zoom = "" if self.wishes.zoom else self.wishes.zoom
            # from the rubric to the code of what is scored
            pane = self._session.scored if self.in_focus == "rubric" else self._panes.at
            self.wish(rubric=None if self.wishes.rubric else self.wishes.rubric, zoom=zoom)
            self.focus_code(pane)

    def step(self, step: int) -> None:
        """Focus the next code pane, then the rubric, then the checks, round and round."""
        count = len(self._panes)
        at = {"rubric": count, "checks": count + 1}.get(self.in_focus, self._panes.at)
        to = (at + step) % (count + 2)
        if to < count:
            self.focus_code(to)
        elif to == count:
            self.focus_rubric()
        else:
            self.focus_checks()

    # showing and hiding

    def show_or_hide(self, part: str) -> None:
        """Show ``rubric``, ``checks`` or ``sidebars``, or hide them where they are in view."""
        now = self.arrangement
        shown = {"rubric": now.rubric > 0, "checks": now.checks > 0, "sidebars": now.sidebar > 0}[part]
        if shown and self.in_focus == part:
            self.focus_code(self._panes.at)
        self.wish(zoom="", **{part: not shown})
        if part == "rubric" and not shown and not self.arrangement.rubric:
            # too narrow for both: it is shown to who is in it
            self.focus_rubric()

    def alone(self) -> None:
        """Show one code pane at a time, or all again."""
        self.wish(alone=not self.wishes.alone, zoom="")

    def zoom(self) -> None:
        """Show the part in focus alone, or all again."""
        self.wish(zoom="" if self.wishes.zoom else self.in_focus)
