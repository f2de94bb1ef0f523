"""Where everything goes at a given size of the terminal: plain arithmetic, no widgets."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["Arrangement", "Situation", "Sizes", "Wishes", "arrange", "drag", "grow"]

#: Columns below which code is hard to read, and below which a pane gives way.
_PANE = 38
_WIDE = 120
_TALL = 30
#: Columns of most code: panes have them before the rubric has more than it needs.
_CODE = 80
_RUBRIC = (40, 58)
#: Columns that the rubric needs to stand beside code.
_BESIDE = 24
_SIDEBAR = 26
#: What is left of a part where another was made large: columns of a code pane and of the rubric, rows of
#: the checks and of what is above them.
_LEAST_PANE, _LEAST_RUBRIC, _LEAST_CHECKS, _LEAST_BODY = 30, 30, 4, 8
#: Columns of the rubric's table, with border and scrollbar, and of each submission's scores in it.
_TABLE, _SCORES = 20, 5
#: Columns and rows of one step.
_COLUMNS, _ROWS = 4, 2
#: Share of a code pane that is as wide as the others.
_EVEN = 1000


class Sizes(Struct, frozen=True):
    """How large the judge has made the parts; what does not fit at a size of the terminal is cut there.

    Attributes:
        rubric: Columns more than the rubric has by itself.
        checks: Rows more than the checks have by themselves.
        shares: Of the width of the code, one per pane, against each other; empty for even ones.
    """

    rubric: int = 0
    checks: int = 0
    shares: tuple[int, ...] = ()


class Wishes(Struct, frozen=True):
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


class Arrangement(Struct, frozen=True):
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


class Situation(Struct, frozen=True):
    """What an arrangement follows from.

    Attributes:
        width: Columns of the terminal.
        height: Rows of the terminal.
        panes: Number of code panes.
        focused: Index of the pane in focus, or last in focus.
        wishes: What was asked for.
        part: Which part has the focus: ``code``, ``rubric`` or ``checks``.
    """

    width: int
    height: int
    panes: int
    focused: int = 0
    wishes: Wishes = Wishes()
    part: str = "code"


def arrange(now: Situation) -> Arrangement:
    """Lay out the screen."""
    width, wishes = now.width, now.wishes
    if wishes.zoom == "rubric":
        return Arrangement((), (), width, 0, 0)
    if wishes.zoom == "checks":
        return Arrangement((), (), 0, max(now.height - 2, 1), 0)
    if wishes.zoom == "code":
        return Arrangement((now.focused,), (width,), 0, 0, _sidebar(width, width, wishes))
    rubric = _rubric(now)
    # a rubric that was made larger takes columns from panes, and no pane away
    shown = max(_shown(width - rubric, now), _shown(width - _own_rubric(now), now))
    first = min(max(now.focused - shown + 1, 0), now.panes - shown)
    columns = _split(width - rubric, _shares(now)[first : first + shown])
    sidebar = _sidebar((width - rubric) // shown, min(columns), wishes)
    return Arrangement(tuple(range(first, first + shown)), columns, rubric, _checks(now), sidebar)


def grow(now: Situation, steps: int) -> Wishes:
    """What is wished once the part in focus is some steps larger, or smaller where they are negative.

    A code pane takes from the others in view, and where it is the only one, from the rubric. The wishes
    stay as they are where nothing can give way.
    """
    shown = arrange(now)
    if now.wishes.zoom:
        return now.wishes
    if now.part == "checks":
        return _with_checks(now, shown.checks + _ROWS * steps)
    if now.part == "rubric":
        return _with_rubric(now, shown.rubric + _COLUMNS * steps)
    if len(shown.panes) == 1:
        return _with_rubric(now, shown.rubric - _COLUMNS * steps)
    at = shown.panes.index(now.focused)
    room = sum(shown.columns)
    least = min(_LEAST_PANE, room // len(shown.panes))
    wanted = min(max(shown.columns[at] + _COLUMNS * steps, least), room - least * (len(shown.panes) - 1))
    others = _split(room - wanted, shown.columns[:at] + shown.columns[at + 1 :])
    return _with_columns(now, shown, (*others[:at], wanted, *others[at:]))


def drag(now: Situation, what: int | str, size: int) -> Wishes:
    """What is wished once the border of a part is somewhere else.

    Args:
        now: The situation that it is dragged in.
        what: ``rubric``, ``checks``, or the index of the code pane at the left of the border.
        size: Columns or rows that it is to have.
    """
    shown = arrange(now)
    if now.wishes.zoom:
        return now.wishes
    if what == "checks":
        return _with_checks(now, size)
    if what == "rubric":
        return _with_rubric(now, size)
    if what not in shown.panes[:-1]:
        return now.wishes
    at = shown.panes.index(what)
    both = shown.columns[at] + shown.columns[at + 1]
    least = min(_LEAST_PANE, *shown.columns[at : at + 2])
    wanted = min(max(size, least), both - least)
    return _with_columns(now, shown, (*shown.columns[:at], wanted, both - wanted, *shown.columns[at + 2 :]))


def _sized(now: Situation, **sizes: object) -> Situation:
    # replace knows the fields by their names alone
    wishes = replace(now.wishes, sizes=replace(now.wishes.sizes, **sizes))
    return replace(now, wishes=wishes)


def _with_rubric(now: Situation, columns: int) -> Wishes:
    own = _own_rubric(now)
    if not own:
        return now.wishes
    # no more than can be seen: a step back is seen too
    columns = _rubric(_sized(now, rubric=columns - own))
    return now.wishes if columns == _rubric(now) else _sized(now, rubric=columns - own).wishes


def _with_checks(now: Situation, rows: int) -> Wishes:
    before = _checks(now)
    if not before:
        return now.wishes
    own = _checks(_sized(now, checks=0))
    rows = _checks(_sized(now, checks=rows - own))
    return now.wishes if rows == before else _sized(now, checks=rows - own).wishes


def _with_columns(now: Situation, shown: Arrangement, columns: Sequence[int]) -> Wishes:
    if tuple(columns) == shown.columns:
        return now.wishes
    shares = list(_shares(now))
    whole = sum(shares[pane] for pane in shown.panes)
    for pane, wanted in zip(shown.panes, columns, strict=True):
        shares[pane] = max(round(whole * wanted / sum(columns)), 1)
    return _sized(now, shares=tuple(shares)).wishes


def _shown(room: int, now: Situation) -> int:
    return 1 if now.wishes.alone else max(min(room // _PANE, now.panes), 1)


def _shares(now: Situation) -> Sequence[int]:
    shares = now.wishes.sizes.shares
    return shares if len(shares) == now.panes else (_EVEN,) * now.panes


def _split(room: int, shares: Sequence[int]) -> tuple[int, ...]:
    """Columns by shares, with room for code in each as far as there is any."""
    least = min(_LEAST_PANE, room // len(shares))
    columns, whole = [0] * len(shares), sum(shares)
    # the narrowest first: what it needs beyond its share is taken from the wider ones
    for n in sorted(range(len(shares)), key=lambda n: shares[n]):
        columns[n] = max(-((whole - 2 * room * shares[n]) // (2 * whole)), least)
        room, whole = room - columns[n], whole - shares[n]
    return tuple(columns)


def _rubric(now: Situation) -> int:
    own, more = _own_rubric(now), now.wishes.sizes.rubric
    if not own or not more:
        return own
    code = _shown(now.width - own, now) * _LEAST_PANE
    # every submission's scores stay in view
    least = max(_LEAST_RUBRIC, _TABLE + _SCORES * now.panes)
    least = min(own, least) if now.width - least >= code else own
    return min(max(own + more, least), max(own, now.width - code))


def _own_rubric(now: Situation) -> int:
    shown = now.width >= _WIDE if now.wishes.rubric is None else now.wishes.rubric
    if not shown:
        return 0
    if now.width < _PANE + _BESIDE:
        # one of the two has the screen: the one in focus
        return now.width if now.part == "rubric" else 0
    least, most = _RUBRIC
    spare = now.width - _CODE * max(min((now.width - least) // _PANE, now.panes), 1)
    return min(max(min(round(now.width * 0.28), spare), least), most, now.width - _PANE)


def _checks(now: Situation) -> int:
    # on a small screen the levels of the rubric need the rows while one scores
    room = now.height >= _TALL or (now.height >= 18 and now.part != "rubric")
    shown = room or now.part == "checks" if now.wishes.checks is None else now.wishes.checks
    if not shown:
        return 0
    own, more = min(max(now.height // 4, 6), 16, max(now.height - 6, 1)), now.wishes.sizes.checks
    if not more:
        return own
    least, most = min(own, _LEAST_CHECKS), max(own, now.height - 2 - _LEAST_BODY)
    return min(max(own + more, least), most)


def _sidebar(share: int, narrowest: int, wishes: Wishes) -> int:
    shown = share >= 96 if wishes.sidebars is None else wishes.sidebars
    return min(_SIDEBAR, narrowest // 3) if shown else 0
