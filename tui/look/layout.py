"""Where everything goes at a given size of the terminal: plain arithmetic, no widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Arrangement", "Sizes", "Wishes", "arrange", "drag", "grow"]

#: Columns below which code is hard to read, and below which a pane gives way.
_PANE = 38
_WIDE = 120
_TALL = 30
_RUBRIC = (40, 58)
_SIDEBAR = 26
#: What is left of a part where another was made large: columns of a code pane and of the rubric, rows of
#: the checks and of what is above them.
_LEAST_PANE, _LEAST_RUBRIC, _LEAST_CHECKS, _LEAST_BODY = 30, 30, 4, 8
#: Columns and rows of one step.
_COLUMNS, _ROWS = 4, 2
#: Share of a code pane that is as wide as the others.
_EVEN = 1000


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the judge has made the parts; what does not fit at a size of the terminal is cut there.

    Attributes:
        rubric: Columns more than the rubric has by itself.
        checks: Rows more than the checks have by themselves.
        shares: Of the width of the code, one per pane, against each other; empty for even ones.
    """

    rubric: int = 0
    checks: int = 0
    shares: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the judge has asked for; ``None`` leaves it to the size.

    Attributes:
        rubric: Show the rubric.
        checks: Show the checks.
        sidebars: Show files and symbols beside the code.
        alone: One code pane at a time.
        zoom: ``code``, ``rubric`` or ``checks`` alone on the screen.
        sizes: How large the parts are.
    """

    rubric: bool | None = None
    checks: bool | None = None
    sidebars: bool | None = None
    alone: bool = False
    zoom: str = ""
    sizes: Sizes = Sizes()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What is shown, and how large.

    Attributes:
        panes: Indices of the code panes in view, in order; empty when none.
        columns: Columns of each of them.
        rubric: Columns of the rubric, 0 when hidden.
        checks: Rows of the checks, 0 when hidden.
        sidebar: Columns of each sidebar, 0 when hidden.
    """

    panes: tuple[int, ...]
    columns: tuple[int, ...]
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
        return Arrangement((), (), width, 0, 0)
    if wishes.zoom == "checks":
        return Arrangement((), (), 0, max(height - 2, 1), 0)
    if wishes.zoom == "code":
        return Arrangement((focused,), (width,), 0, 0, _sidebar(width, width, wishes))
    rubric = _rubric(width, panes, wishes)
    # a rubric that was made larger takes columns from panes, and no pane away
    shown = max(
        _shown(width - rubric, panes, wishes), _shown(width - _own_rubric(width, wishes), panes, wishes)
    )
    first = min(max(focused - shown + 1, 0), panes - shown)
    columns = _split(width - rubric, _shares(panes, wishes)[first : first + shown])
    sidebar = _sidebar((width - rubric) // shown, min(columns), wishes)
    checks = _checks(height, wishes, part)
    return Arrangement(tuple(range(first, first + shown)), columns, rubric, checks, sidebar)


def grow(width: int, height: int, panes: int, focused: int, wishes: Wishes, part: str, steps: int) -> Wishes:
    """What is wished once the part in focus is some steps larger, or smaller where they are negative.

    A code pane takes from the others in view, and where it is the only one, from the rubric. The wishes
    stay as they are where nothing can give way. The other arguments are those of :func:`arrange`.
    """
    now = arrange(width, height, panes, focused, wishes, part)
    if wishes.zoom:
        return wishes
    if part == "checks":
        return _with_checks(height, wishes, part, now.checks + _ROWS * steps)
    if part == "rubric":
        return _with_rubric(width, panes, wishes, now.rubric + _COLUMNS * steps)
    if len(now.panes) == 1:
        return _with_rubric(width, panes, wishes, now.rubric - _COLUMNS * steps)
    at = now.panes.index(focused)
    room = sum(now.columns)
    least = min(_LEAST_PANE, room // len(now.panes))
    wanted = min(max(now.columns[at] + _COLUMNS * steps, least), room - least * (len(now.panes) - 1))
    others = _split(room - wanted, now.columns[:at] + now.columns[at + 1 :])
    return _with_columns(panes, wishes, now, (*others[:at], wanted, *others[at:]))


def drag(
    width: int, height: int, panes: int, focused: int, wishes: Wishes, part: str, what: int | str, size: int
) -> Wishes:
    """What is wished once the border of a part is somewhere else.

    Args:
        width: Columns of the terminal.
        height: Rows of the terminal.
        panes: Number of code panes.
        focused: Index of the pane in focus, or last in focus.
        wishes: What was asked for.
        part: Which part has the focus.
        what: ``rubric``, ``checks``, or the index of the code pane at the left of the border.
        size: Columns or rows that it is to have.
    """
    now = arrange(width, height, panes, focused, wishes, part)
    if wishes.zoom:
        return wishes
    if what == "checks":
        return _with_checks(height, wishes, part, size)
    if what == "rubric":
        return _with_rubric(width, panes, wishes, size)
    if what not in now.panes[:-1]:
        return wishes
    at = now.panes.index(what)  # type: ignore[arg-type]
    both = now.columns[at] + now.columns[at + 1]
    least = min(_LEAST_PANE, *now.columns[at : at + 2])
    wanted = min(max(size, least), both - least)
    return _with_columns(
        panes, wishes, now, (*now.columns[:at], wanted, both - wanted, *now.columns[at + 2 :])
    )


def _with_rubric(width: int, panes: int, wishes: Wishes, columns: int) -> Wishes:
    own = _own_rubric(width, wishes)
    if not own:
        return wishes
    before = _rubric(width, panes, wishes)
    wanted = replace(wishes, sizes=replace(wishes.sizes, rubric=columns - own))
    # no more than can be seen: a step back is seen too
    columns = _rubric(width, panes, wanted)
    return wishes if columns == before else replace(wanted, sizes=replace(wanted.sizes, rubric=columns - own))


def _with_checks(height: int, wishes: Wishes, part: str, rows: int) -> Wishes:
    before = _checks(height, wishes, part)
    if not before:
        return wishes
    own = _checks(height, replace(wishes, sizes=Sizes()), part)
    wanted = replace(wishes, sizes=replace(wishes.sizes, checks=rows - own))
    rows = _checks(height, wanted, part)
    return wishes if rows == before else replace(wanted, sizes=replace(wanted.sizes, checks=rows - own))


def _with_columns(panes: int, wishes: Wishes, now: Arrangement, columns: Sequence[int]) -> Wishes:
    if tuple(columns) == now.columns:
        return wishes
    shares = list(_shares(panes, wishes))
    whole = sum(shares[pane] for pane in now.panes)
    for pane, wanted in zip(now.panes, columns, strict=True):
        shares[pane] = max(round(whole * wanted / sum(columns)), 1)
    return replace(wishes, sizes=replace(wishes.sizes, shares=tuple(shares)))


def _shown(room: int, panes: int, wishes: Wishes) -> int:
    return 1 if wishes.alone else max(min(room // _PANE, panes), 1)


def _shares(panes: int, wishes: Wishes) -> Sequence[int]:
    shares = wishes.sizes.shares
    return shares if len(shares) == panes else (_EVEN,) * panes


def _split(room: int, shares: Sequence[int]) -> tuple[int, ...]:
    """Columns by shares, with room for code in each as far as there is any."""
    least = min(_LEAST_PANE, room // len(shares))
    columns, whole = [0] * len(shares), sum(shares)
    # the narrowest first: what it needs beyond its share is taken from the wider ones
    for n in sorted(range(len(shares)), key=lambda n: shares[n]):
        columns[n] = max(-((whole - 2 * room * shares[n]) // (2 * whole)), least)
        room, whole = room - columns[n], whole - shares[n]
    return tuple(columns)


def _rubric(width: int, panes: int, wishes: Wishes) -> int:
    own = _own_rubric(width, wishes)
    if not own or not wishes.sizes.rubric:
        return own
    code = _shown(width - own, panes, wishes) * _LEAST_PANE
    least = min(own, _LEAST_RUBRIC) if width - _LEAST_RUBRIC >= code else own
    return min(max(own + wishes.sizes.rubric, least), max(own, width - code))


def _own_rubric(width: int, wishes: Wishes) -> int:
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
    own = min(max(height // 4, 6), 16, max(height - 6, 1))
    if not wishes.sizes.checks:
        return own
    least, most = min(own, _LEAST_CHECKS), max(own, height - 2 - _LEAST_BODY)
    return min(max(own + wishes.sizes.checks, least), most)


def _sidebar(share: int, narrowest: int, wishes: Wishes) -> int:
    shown = share >= 96 if wishes.sidebars is None else wishes.sidebars
    return min(_SIDEBAR, narrowest // 3) if shown else 0
