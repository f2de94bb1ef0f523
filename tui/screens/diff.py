"""One function of two or three submissions, line beside line."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.style import Style
from textual.binding import Binding

from judge_tui.tui.code.line_diff import LineDiff, Row, changed
from judge_tui.tui.keys.bound_keys import key_for, keys_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit
from judge_tui.tui.look.glyphs import is_plain, neutral
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["DiffScreen", "Excerpt"]

#: Columns that a key scrolls sideways.
_SLIDE = 8
#: Characters that may share a cell: so many are looked at for each, of a line of any length.
_COMBINED = 4


class Excerpt(Struct, frozen=True):
    """A definition of one submission.

    Attributes:
        who: Letter and name of the submission.
        name: The definition's name.
        first: 0-based line of the file where it begins.
        lines: Its text.
    """

    who: str
    name: str
    first: int
    lines: Sequence[str]


class _Table(Rows):
    BINDINGS: ClassVar = [
        Binding("h,left", "slide(-1)", "scroll left", show=False),
        Binding("l,right", "slide(1)", "scroll right", show=False),
    ]

    BINDINGS = named("diff", BINDINGS)

    def __init__(self, excerpts: Sequence[Excerpt], rows: Sequence[Row]) -> None:
        super().__init__()
        self._excerpts, self._table = excerpts, rows
        #: What was found to differ, by row and side: a line is drawn at every key.
        self._differing: dict[tuple[int, int], Sequence[tuple[int, int]]] = {}
        self._left = 0
        self._widest = max((len(line) for excerpt in excerpts for line in excerpt.lines), default=0)

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, int)
        row = self._table[key]
        column = (width - len(row) + 1) // len(row)
        spans: list[Span] = []
        for side in range(len(row)):
            if side:
                spans.append(("│", tones.faint))
            spans += self._cell(key, side, column, tones)
        return spans

    def _cell(self, key: int, side: int, width: int, tones: Tones) -> list[Span]:
        row, excerpt = self._table[key], self._excerpts[side]
        at = row[side]
        if at is None:
            return [("╱" * width, tones.faint)]
        text = excerpt.lines[at]
        others = [
            self._excerpts[n].lines[other] for n, other in enumerate(row) if n != side and other is not None
        ]
        gutter = f"{excerpt.first + at + 1:>5} "
        room = max(width - len(gutter), 1)
        alone = len(others) < len(row) - 1
        base = tones.by_name["accent"] if not others else tones.text
        if all(text.strip() == other.strip() for other in others) and not alone:
            base = tones.muted
        if (key, side) not in self._differing:
            differ = bool(others) and text.strip() != others[0].strip()
            self._differing[key, side] = changed(text, others[0]) if differ else []
        lit = base + tones.selected
        return [(gutter, tones.faint), *self._text(text, self._differing[key, side], room, base, lit)]

    def _text(
        self, text: str, stretches: Sequence[tuple[int, int]], room: int, base: Style, lit: Style
    ) -> list[Span]:
        if not is_plain(text):
            # symbols are wider than what they stand for: no stretch of the line is lit
            shown = neutral(text[: _COMBINED * (self._left + room)])[self._left :][: _COMBINED * room]
            return [(fit(shown, room), base)]
        shown = text[self._left : self._left + room]
        spans: list[Span] = []
        at = self._left
        for begin, behind in stretches:
            first, end = max(begin, at), min(behind, self._left + len(shown))
            if first < end:
                spans += [(text[at:first], base), (text[first:end], lit)]
                at = end
        spans.append((text[at : self._left + len(shown)] + " " * (room - len(shown)), base))
        return [span for span in spans if span[0]]

    def action_slide(self, step: int) -> None:
        self._left = min(max(self._left + step * self.times * _SLIDE, 0), max(self._widest - _SLIDE, 0))
        self.refresh()


class DiffScreen(Sheet["Row | None"]):
    """Gives the lines of the row that was chosen, 0-based in their files, or ``None``.

    Args:
        excerpts: The same function of two or three submissions.
        diff: Their lines beside each other.
    """

    BINDINGS: ClassVar = [
        Binding("escape,q,d", "close", "back"),
        Binding("n", "change(1)", "next difference", show=False),
        Binding("N", "change(-1)", "previous difference", show=False),
    ]

    BINDINGS = named("diff", BINDINGS)
    title_of_keys = "Differences of a function"

    def __init__(self, excerpts: Sequence[Excerpt], diff: LineDiff) -> None:
        super().__init__()
        self._excerpts, self._diff = excerpts, diff
        self.rows = _Table(excerpts, diff.rows)

    def on_mount(self) -> None:
        lines, coarse = len(self._diff.rows), self._diff.left_out
        self.query_one(Bar).tell(
            [(f" {excerpt.who} › {excerpt.name} ", "strong", n) for n, excerpt in enumerate(self._excerpts)],
            [
                (f"{coarse} · " if coarse else "", "warning", 3),
                (f"{lines - len(self._diff.changes)} of {lines} lines the same ", "muted", 3),
            ],
        )
        self.hint(
            (
                (keys_for(self, "change(1)", "change(-1)"), "next, previous difference"),
                (key_for(self.rows, "open"), "to these lines"),
                (keys_for(self.rows, "slide(-1)", "slide(1)"), "sideways"),
                (key_for(self, "close"), "back"),
            )
        )
        self.rows.show(range(lines))
        self.rows.focus()

    def action_change(self, step: int) -> None:
        changes, cursor, times = self._diff.changes, self.rows.cursor, self.rows.times
        if step > 0:
            after = changes[bisect_right(changes, cursor) :][:times]
        else:
            after = changes[: bisect_left(changes, cursor)][-times:][::-1]
        if after:
            self.rows.go(after[-1])
        else:
            where = f"{'below' if step > 0 else 'above'} here" if changes else "here"
            self.notify(f"no difference {where}", markup=False, timeout=2)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        assert isinstance(event.key, int)
        row = self._diff.rows[event.key]
        self.dismiss(tuple(None if at is None else self._excerpts[n].first + at for n, at in enumerate(row)))
