"""One function of two or three submissions, line beside line."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from judge_tui.tui.code.line_diff import Row, changed
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.glyphs import is_plain, neutral
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.key_hints import key_for, keys_for
from judge_tui.tui.widgets.rows import Rows, Span, fit
from rich.style import Style
from textual.binding import Binding

__all__ = ["DiffScreen", "Excerpt"]

#: Columns that a key scrolls sideways.
_SLIDE = 8


@dataclass(frozen=True, slots=True)
class Excerpt:
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
            spans += self._cell(row, side, column, tones)
        return spans

    def _cell(self, row: Row, side: int, width: int, tones: Tones) -> list[Span]:
        at, excerpt = row[side], self._excerpts[side]
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
        stretches = changed(text, others[0]) if others and text.strip() != others[0].strip() else []
        return [(gutter, tones.faint), *self._text(text, stretches, room, base, base + tones.selected)]

    def _text(
        self, text: str, stretches: Sequence[tuple[int, int]], room: int, base: Style, lit: Style
    ) -> list[Span]:
        if not is_plain(text):
            # symbols are wider than what they stand for: no stretch of the line is lit
            return [(fit(neutral(text)[self._left :], room), base)]
        shown = text[self._left : self._left + room]
        spans: list[Span] = []
        at = self._left
        for first, end in stretches:
            first, end = max(first, at), min(end, self._left + len(shown))
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
        rows: Their lines beside each other (see :func:`judge_tui.tui.code.line_diff.aligned`).
    """

    BINDINGS: ClassVar = [
        Binding("escape,q,d", "close", "back"),
        Binding("n", "change(1)", "next difference", show=False),
        Binding("N", "change(-1)", "previous difference", show=False),
    ]

    BINDINGS = named("diff", BINDINGS)
    title_of_keys = "Differences of a function"

    def __init__(self, excerpts: Sequence[Excerpt], rows: Sequence[Row]) -> None:
        super().__init__()
        self._excerpts, self._lines = excerpts, rows
        self.rows = _Table(excerpts, rows)

    def on_mount(self) -> None:
        same = sum(self._same(row) for row in self._lines)
        self.query_one(Bar).tell(
            [(f" {excerpt.who} › {excerpt.name} ", "strong", n) for n, excerpt in enumerate(self._excerpts)],
            [(f"{same} of {len(self._lines)} lines the same ", "muted", 3)],
        )
        self.hint(
            (
                (keys_for(self, "change(1)", "change(-1)"), "next, previous difference"),
                (key_for(self.rows, "open"), "to these lines"),
                (keys_for(self.rows, "slide(-1)", "slide(1)"), "sideways"),
                (key_for(self, "close"), "back"),
            )
        )
        self.rows.show(range(len(self._lines)))
        self.rows.focus()

    def _same(self, row: Row) -> bool:
        texts = {None if at is None else self._excerpts[n].lines[at].strip() for n, at in enumerate(row)}
        return len(texts) == 1

    def action_change(self, step: int) -> None:
        changes = [at for at, row in enumerate(self._lines) if not self._same(row)]
        after = [at for at in changes if (at > self.rows.cursor if step > 0 else at < self.rows.cursor)]
        if after:
            self.rows.go(after[::step][min(self.rows.times, len(after)) - 1])
        else:
            where = f"{'below' if step > 0 else 'above'} here" if changes else "here"
            self.notify(f"no difference {where}", markup=False, timeout=2)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        assert isinstance(event.key, int)
        row = self._lines[event.key]
        self.dismiss(tuple(None if at is None else self._excerpts[n].first + at for n, at in enumerate(row)))
