"""The lists below the matrix: what to compare next, what was compared before, and how far all judges are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from judge_tui.judging.fellow_judges import Fellow
from judge_tui.judging.pairs import REASONS, Pair
from judge_tui.judging.rubric import half_up
from judge_tui.tui.look.bars import bar
from judge_tui.tui.look.fitting import fit
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.past import Past
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.matrix_cells import FAR, abbreviated
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["HomeList", "JudgeRows", "PastRows", "QueueRows", "side_by_side"]

_TASK = 20
#: Columns from which on two lists stand beside each other, and three.
_TWO, _THREE = 100, 170
#: Columns of a judge's name, of a bar of what is done, and of what is left.
_NAME, _DONE, _LEFT = 16, 8, 13
#: Columns of a reason; the one that is longer, and rare, takes them from the names.
_REASON = 11
_TONES = dict(zip(REASONS, ("primary", "warning", "warning", "muted"), strict=True))

#: Who is ahead, what was done, whom to, and by how much.
Won = tuple[str, str, str, str]
#: Says what a model is called on the screen.
Name = Callable[[str], str]


class QueueRows(Rows):
    """Pairs that are due."""

    def __init__(self, name: Name) -> None:
        super().__init__(id="queue")
        self._called = name

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        from rich.cells import cell_len

        assert isinstance(key, Pair)
        task = min(_TASK, width // 3)
        names = " · ".join(map(self._called, key.models))
        why = self._why(key, width - task - cell_len(names) - 4)
        reason = max(_REASON, cell_len(why) + 1)
        return [
            (f" {abbreviated(key.task, task)} ", tones.muted),
            (fit(names, max(width - task - reason - 3, 8)), tones.text),
            (f" {fit(why, reason)}", tones.by_name[_TONES[key.reason]]),
        ]

    def _why(self, pair: Pair, room: int) -> str:
        """What is open, and of which where it is open of one alone."""
        from rich.cells import cell_len

        what = "begun" if pair.begun else pair.reason
        if len(pair.due) != 1:
            return what
        named = f"{self._called(pair.due[0])} {what}"
        # the matrix tells which, where it does not fit beside the names
        return named if cell_len(named) <= room else f"one {what}"


class PastRows(Rows):
    """Comparisons as they were left, and who won.

    Args:
        name: What a model is called.
        clock: Formats a moment.
        won: Who won one, as :func:`~judge_tui.tui.home_rows.outcome`; ``None`` where that may not be told.
    """

    def __init__(self, name: Name, clock: Callable[[float], str], won: Callable[[Past], Won | None]) -> None:
        super().__init__(id="past")
        self._called, self._clock, self._won = name, clock, won

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        from rich.cells import cell_len

        assert isinstance(key, Past)
        task = min(_TASK, width // 4)
        at = f" {self._clock(key.at)} "
        room = max(width - task - 2 - cell_len(at), 8)
        ahead, did, whom, by = self._won(key) or ("", "", " · ".join(map(self._called, key.models)), "")
        place = f" {key.place[0]}:{key.place[1] + 1}" if key.place and width >= 60 else ""
        # who won is worth more than where the reader was
        place = place if cell_len(ahead + did + whom + by + place) <= room else ""
        ahead = fit(ahead, min(cell_len(ahead), max(room - len(did) - 8, 4)))
        rest = max(room - cell_len(ahead + did + by + place), 4)
        whom = fit(whom, min(cell_len(whom), rest))
        return [
            (f" {abbreviated(key.task, task)} ", tones.muted),
            (ahead, tones.strong),
            (did, tones.muted),
            (whom, tones.text),
            (by, tones.by_name["success"]),
            (" " * (rest - cell_len(whom)), tones.text),
            (place, tones.muted),
            (at, tones.faint),
        ]


class JudgeRows(Rows):
    """Who judges: what each has left, and how far they are from the one who looks."""

    def __init__(self) -> None:
        super().__init__(id="judges")

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, Fellow)
        name = min(_NAME, width // 3)
        left = f"{key.left} left" if key.left else "nothing left"
        drawn = [
            (f" {abbreviated(key.name, name)} ", tones.text),
            (bar(key.judged / key.there if key.there else 0.0, _DONE), tones.by_name["primary"]),
            (f" {left:<{_LEFT}}", tones.muted if key.left else tones.by_name["success"]),
        ]
        if key.apart is None:
            return drawn
        way = half_up(key.above)
        side = f"{abs(way)} {'above' if way > 0 else 'below'} you" if way else "level with you"
        style = tones.by_name["warning"] if key.apart >= FAR else tones.text
        return [*drawn, (f"±{key.apart:.1f} ", style), (f"on {key.both}, {side}", tones.muted)]


class HomeList(Vertical):
    """A title and a list, or a sentence in its place."""

    DEFAULT_CSS = """
    HomeList { width: 1fr; height: 1fr; background: $surface; }
    HomeList.-second { border-left: solid $border; }
    HomeList Bar { background: $panel; }
    HomeList #none { background: $surface; }
    """

    def __init__(self, title: str, rows: Rows, none: str, *, second: bool = False) -> None:
        super().__init__(classes="-second" if second else "")
        self.rows = rows
        self.aside = ""
        self._title, self._none = title, none
        self._title_bar, self._empty = Bar(classes="-title"), Bar(id="none")

    def compose(self) -> ComposeResult:
        yield self._title_bar
        yield self._empty
        yield self.rows

    def show(self, keys: Sequence[Hashable], none: str | None = None) -> None:
        """Show other rows; ``none`` stands there when there are none."""
        self.rows.show(keys)
        self._empty.display = not keys
        self._empty.tell([(f" {self._none if none is None else none}", "muted", 0)])
        self.retitle()

    @property
    def told(self) -> str:
        """Title and number of rows, for where the list itself is not in view."""
        return f"{self._title.lower()} {len(self.rows.keys) or ''}".rstrip()

    def retitle(self) -> None:
        """Refresh the title."""
        count = len(self.rows.keys)
        self._title_bar.tell(
            [(f" {self._title} ", "strong" if self.rows.has_focus else "muted", 0)],
            [
                (f"{count}   " if count and self.aside else f"{count} " if count else "", "muted", 1),
                (f"{self.aside} " if self.aside else "", "faint", 2),
            ],
        )

    def on_descendant_focus(self) -> None:
        self.retitle()

    def on_descendant_blur(self) -> None:
        self.retitle()


def side_by_side(lists: Sequence[HomeList], chosen: HomeList, width: int, key: str) -> None:
    """Show as many lists as have room beside each other, and say by which key the others come.

    Args:
        lists: All of them, in order.
        chosen: The one that is shown in any case.
        width: Columns of all; on a narrow screen several would cut the names.
        key: Leads on to the next.
    """
    room = 3 if width >= _THREE else 2 if width >= _TWO else 1
    begin = max(lists.index(chosen) - room + 1, 0)
    shown = lists[begin : begin + room]
    hidden = [*lists[begin + room :], *lists[:begin]]
    for each in lists:
        each.display = each in shown
        each.set_class(each is not shown[0], "-second")
        each.aside = f"{key}: {hidden[0].told}" if hidden and each is shown[-1] else ""
        each.retitle()
