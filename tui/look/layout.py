"""Where everything goes at a given size of the terminal: plain arithmetic, no widgets."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Arrangement", "Wishes", "arrange"]

#: Columns below which code is hard to read, and below which a pane gives way.
_PANE = 38
_WIDE = 120
_TALL = 30
_RUBRIC = (40, 58)
_SIDEBAR = 26


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the judge has asked for; ``None`` leaves it to the size.

    Attributes:
        rubric: Show the rubric.
        checks: Show the checks.
        sidebars: Show files and symbols beside the code.
        alone: One code pane at a time.
        zoom: ``code``, ``rubric`` or ``checks`` alone on the screen.
    """

    rubric: bool | None = None
    checks: bool | None = None
    sidebars: bool | None = None
    alone: bool = False
    zoom: str = ""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What is shown, and how large.

    Attributes:
        panes: Indices of the code panes in view, in order; empty when none.
        rubric: Columns of the rubric, 0 when hidden.
        checks: Rows of the checks, 0 when hidden.
        sidebar: Columns of each sidebar, 0 when hidden.
    """

    panes: tuple[int, ...]
    rubric: int
    checks: int
    sidebar: int


def arrange(
    width: int, height: int, panes: int, focused: int, wishes: Wishes, part: str = "code"
) -> Arrangement:
    """Lay out the screen.

    Args:
        width: Columns of the terminal.
        height: Rows of the terminal.
        panes: Number of code panes.
        focused: Index of the pane in focus, or last in focus.
        wishes: What was asked for.
        part: Which part has the focus: ``code``, ``rubric`` or ``checks``.
    """
    if wishes.zoom == "rubric":
        return Arrangement((), width, 0, 0)
    if wishes.zoom == "checks":
        return Arrangement((), 0, max(height - 2, 1), 0)
    if wishes.zoom == "code":
        return Arrangement((focused,), 0, 0, _sidebar(width, wishes))
    rubric = _rubric(width, wishes)
    shown = 1 if wishes.alone else max(min((width - rubric) // _PANE, panes), 1)
    first = min(max(focused - shown + 1, 0), panes - shown)
    share = (width - rubric) // shown
    return Arrangement(
        tuple(range(first, first + shown)), rubric, _checks(height, wishes, part), _sidebar(share, wishes)
    )


def _rubric(width: int, wishes: Wishes) -> int:
    shown = width >= _WIDE if wishes.rubric is None else wishes.rubric
    if not shown:
        return 0
    least, most = _RUBRIC
    return min(max(round(width * 0.28), least), most, max(width - _PANE, 1) if width >= _PANE + 24 else width)


def _checks(height: int, wishes: Wishes, part: str) -> int:
    # on a small screen the levels of the rubric need the rows while one scores
    room = height >= _TALL or (height >= 18 and part != "rubric")
    shown = room or part == "checks" if wishes.checks is None else wishes.checks
    if not shown:
        return 0
    return min(max(height // 4, 6), 16, max(height - 6, 1))


def _sidebar(share: int, wishes: Wishes) -> int:
    shown = share >= 96 if wishes.sidebars is None else wishes.sidebars
    return min(_SIDEBAR, share // 3) if shown else 0
