"""Models × tasks: what the judge has said of each submission, and what its checks found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from judge_tui.judging.standing import Outline
from judge_tui.tui.home_board import Cell, HomeBoard
from judge_tui.tui.home_rows import LEFT, MEAN, MODEL, OTHERS, WON
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit, wrapped
from judge_tui.tui.look.in_a_row import in_a_row
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.textual_private.drawing import line_filters
from judge_tui.tui.widgets.counted import Counted
from judge_tui.tui.widgets.matrix_cells import HEADS, abbreviated, cell_spans, joined, row_spans
from judge_tui.tui.widgets.matrix_columns import Columns, arranged
from judge_tui.tui.widgets.rows import Span

__all__ = ["Matrix"]


class Matrix(Counted, can_focus=True):
    """The table; its cursor is a cell.

    Args:
        board: What is shown.
        name: What a model is called on the screen.
        pointed: Called when the cursor came to another cell, or the marks changed.
    """

    DEFAULT_CSS = "Matrix { width: 1fr; background: $surface; }"

    BINDINGS: ClassVar = [
        Binding("enter", "open", "compare"),
        Binding("space", "mark", "mark"),
        Binding("j,down", "move(1, 0)", "model down", show=False),
        Binding("k,up", "move(-1, 0)", "model up", show=False),
        Binding("h,left", "move(0, -1)", "task to the left", show=False),
        Binding("l,right", "move(0, 1)", "task to the right", show=False),
        Binding("g", "edge(0)", "first model", show=False),
        Binding("G", "edge(1)", "last model", show=False),
        Binding("home,0", "side(0)", "first task", show=False),
        Binding("end,dollar_sign", "side(1)", "last task", show=False),
        Binding("ctrl+d,pagedown", "page(1)", "page down", show=False),
        Binding("ctrl+u,pageup", "page(-1)", "page up", show=False),
        Binding(
            "escape",
            "unmark",
            "all rows again, then: take all marks away",
            show=False,
            id="take all marks away",
        ),
    ]

    BINDINGS = named("matrix", BINDINGS)
    AT_ONCE: ClassVar = frozenset({"move", "edge", "side", "page"})

    class Sorted(Message):
        """A head was clicked."""

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    class Unfiltered(Message):
        """All rows are wanted again."""

    class Opened(Message):
        """Enter was pressed on a cell, or it was clicked twice."""

        def __init__(self, cell: Cell) -> None:
            super().__init__()
            self.cell = cell

    def __init__(
        self, board: HomeBoard, name: Callable[[str], str], pointed: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(id="matrix")
        # told by a call and not by a message: what follows belongs into the same frame
        self.board, self._called, self._pointed = board, name, pointed
        self.row = self.column = 0
        self._top = self._left = 0
        self.columns = Columns()
        self._placed = False
        self._measured: Outline | None = None
        self._longest = 0
        self._drawn: dict[str, Strip] = {}
        self._drawn_in: Tones | None = None

    # what is in view

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor."""
        board = self.board
        if self.row < len(board.rows) and self.column < len(board.tasks):
            return board.rows[self.row], board.tasks[self.column]
        return None

    def point(self, cell: Cell) -> None:
        """Put the cursor on a cell, when it is in view."""
        if cell[0] in self.board.rows and cell[1] in self.board.tasks:
            self._go(self.board.rows.index(cell[0]), self.board.tasks.index(cell[1]))

    def renew(self, stay: Cell | None = None) -> None:
        """Show what the board holds now.

        Args:
            stay: The cell that the cursor was on: a cursor that somebody has moved follows its model.
        """
        self._measure()
        row = self.row
        if stay is not None and self._placed and stay[0] in self.board.rows:
            row = self.board.rows.index(stay[0])
        self._go(row, self.column)

    def to_top(self) -> None:
        """Put the cursor on the first row: rows were put in another order."""
        self._placed = False
        self._go(0, self.column)

    def _measure(self) -> None:
        board = self.board
        self._drawn.clear()
        if board.outline is not self._measured:
            # there may be thousands, and they stay as long as what they are listed in
            self._measured = board.outline
            self._longest = max((len(self._called(model)) for model in board.models), default=0)
        telling = [MEAN, LEFT] if board.cells else []
        telling += [WON] if any(board.decided.values()) else []
        telling += [OTHERS] if board.fellows else []
        self.columns = arranged(self.size.width, self._longest, len(board.tasks), telling)

    @property
    def _rows(self) -> int:
        return max(self.size.height - 1, 1)

    def _go(self, row: int, column: int) -> None:
        board = self.board
        self.row = min(max(row, 0), max(len(board.rows) - 1, 0))
        self.column = min(max(column, 0), max(len(board.tasks) - 1, 0))
        shown = self.columns.shown
        self._top = min(max(self._top, self.row - self._rows + 1), self.row)
        self._top = max(min(self._top, len(board.rows) - self._rows), 0)
        left = min(max(self._left, self.column - shown + 1), self.column)
        left = max(min(left, len(board.tasks) - shown), 0)
        if left != self._left:
            self._left = left
            self._drawn.clear()
        self.refresh()
        self._pointed()

    # drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        # straight from our own rows: the general way through styles costs as much as drawing
        tones, width = tones_of(self.app), self.size.width
        strips = [self._drawn_line(y, width, tones) for y in crop.line_range]
        if crop.x or crop.right < width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        return self._drawn_line(y, self.size.width, tones_of(self.app))

    def _drawn_line(self, y: int, width: int, tones: Tones) -> Strip:
        base = tones.text + tones.raised
        if not self.board.cells:
            spans = self._empty(y, width, tones)
        elif y == 0:
            spans = self._head(tones)
        elif self._top + y - 1 < len(self.board.rows):
            return self._row(self._top + y - 1, width, base, tones)
        elif y == 1 and not self.board.rows:
            spans = [("  No model is meant by that. ", tones.muted)]
        else:
            spans = []
        return self._strip(spans, width, base)

    def _strip(self, spans: Sequence[Span], width: int, base: Style) -> Strip:
        strip = in_a_row([Segment(text, base + style) for text, style in spans], width, base)
        for line_filter in line_filters(self.app):
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return strip

    def _row(self, row: int, width: int, base: Style, tones: Tones) -> Strip:
        """A row as it is drawn: one without the cursor looks the same wherever it stands."""
        model = self.board.rows[row]
        if tones is not self._drawn_in:
            self._drawn_in = tones
            self._drawn.clear()
        known = None if row == self.row else self._drawn.get(model)
        if known is None:
            known = self._strip(joined(self._line(row, tones)), width, base)
            if row != self.row:
                self._drawn[model] = known
        return known

    def _empty(self, y: int, width: int, tones: Tones) -> list[Span]:
        board = self.board
        if board.fault:
            text, style = board.fault, tones.by_name["error"]
        elif board.outline is None:
            text, style = "Reading the workspace…", tones.muted
        else:
            text, style = (
                "No submissions yet. Bring one in:  judge-tui add FOLDER --model NAME --task TASK",
                tones.text,
            )
        lines = ["", *wrapped(text, max(width - 4, 10))]
        return [(f"  {lines[y]}", style)] if y < len(lines) else []

    def _head(self, tones: Tones) -> list[Span]:
        columns, board = self.columns, self.board
        models, many = board.rows, len(board.rows) > self._rows
        rows = f" {self._top + 1}–{min(self._top + self._rows, len(models))} of {len(models)}" if many else ""
        spans = self._titled(rows or " model", MODEL, columns.names, tones.faint, tones)
        for column, width in columns.own:
            spans += self._titled(f" {HEADS[column]}", column, width, tones.faint, tones)
        for number, task in enumerate(board.tasks[self._left : self._left + columns.shown], self._left):
            first, last = number == self._left, number == self._left + columns.shown - 1
            before = "‹" if first and self._left else " "
            after = "›" if last and self._left + columns.shown < len(board.tasks) else " "
            style = tones.strong if number == self.column else tones.muted
            sign = self._sign(f"task:{task}")
            title = abbreviated(task, columns.cell - 2 - len(sign))
            if sign:
                # beside the name, however wide the column is
                title = f"{title.rstrip()}{sign}"
            spans += [
                (before, tones.by_name["accent"]),
                (fit(title, columns.cell - 2), style),
                (after, tones.by_name["accent"]),
            ]
        return spans

    def _sign(self, column: str) -> str:
        """Which way rows are sorted by a column; nothing where they are not."""
        order = self.board.order
        return "" if order.column != column else "▼" if order.down else "▲"

    def _titled(self, text: str, column: str, width: int, style: Style, tones: Tones) -> list[Span]:
        sign = self._sign(column)
        if not sign:
            return [(fit(text, width), style)]
        told = text[: max(width - 1, 1)]
        return [
            (told, style),
            (sign, tones.by_name["accent"]),
            (" " * max(width - len(told) - 1, 0), style),
        ]

    def _line(self, row: int, tones: Tones) -> list[Span]:
        board, model, columns = self.board, self.board.rows[row], self.columns
        style = tones.strong if row == self.row else tones.text
        spans: list[Span] = [(" ", style), (fit(self._called(model), columns.names - 2), style), (" ", style)]
        spans += row_spans(board.row(model), columns.own, tones)
        for number, task in enumerate(board.tasks[self._left : self._left + columns.shown], self._left):
            here = row == self.row and number == self.column
            ground = (tones.pointed if self.has_focus else tones.pointed_blurred) if here else None
            there = board.outline is not None and (model, task) in board.outline.submitted
            drawn = cell_spans(
                board.standings.get((model, task)),
                columns.cell,
                tones,
                there=there,
                marked=(model, task) in board.marked,
            )
            if ground and ground.reverse:
                # reversed, the colour of each piece would be its ground
                drawn = [(text, ink.without_color) for text, ink in drawn]
            spans += [(text, ink + ground if ground else ink) for text, ink in drawn]
        return spans

    # keys and mouse

    def on_resize(self) -> None:
        self.renew()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _goes(self, row: int, column: int) -> None:
        self._placed = True
        self._go(row, column)

    def action_move(self, rows: int, columns: int) -> None:
        self._goes(self.row + rows * self.times, self.column + columns * self.times)

    def action_edge(self, end: int) -> None:
        last = len(self.board.rows) - 1 if end else 0
        self._goes(self.count - 1 if self.count else last, self.column)

    def action_side(self, end: int) -> None:
        self._goes(self.row, len(self.board.tasks) - 1 if end else 0)

    def action_page(self, pages: int) -> None:
        self._goes(self.row + pages * self.times * max(self._rows - 1, 1), self.column)

    def action_mark(self) -> None:
        if self.cell is not None:
            told = self.board.mark(self.cell)
            if told:
                self.notify(told, markup=False, timeout=3)
            self.renew()

    def action_unmark(self) -> None:
        if self.board.typed:
            self.post_message(self.Unfiltered())
            return
        self.board.marked.clear()
        self.renew()

    def action_open(self) -> None:
        if self.cell is not None:
            self.post_message(self.Opened(self.cell))

    def on_click(self, event: events.Click) -> None:
        columns, board = self.columns, self.board
        number = columns.task_at(event.x)
        column = None if number is None else self._left + number
        known = column is not None and column < min(self._left + columns.shown, len(board.tasks))
        if event.y < 1:
            own = MODEL if event.x < columns.names else columns.own_at(event.x)
            if sorted_by := own or (f"task:{board.tasks[column]}" if known and column is not None else None):
                self.post_message(self.Sorted(sorted_by))
            return
        row = self._top + event.y - 1
        if row < len(board.rows) and (known or number is None):
            to = self.column if column is None else column
            again = (row, to) == (self.row, self.column) and event.chain > 1
            self._goes(row, to)
            if again:
                self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._goes(self.row + 1, self.column)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._goes(self.row - 1, self.column)
