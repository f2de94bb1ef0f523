"""Models × tasks: what the judge has said of each submission, and what its checks found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip

from judge_tui.checks.verdict import SIGNS as SIGN_OF
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.standing import Standing
from judge_tui.tui.home_board import Cell, HomeBoard
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit, wrapped
from judge_tui.tui.look.in_a_row import in_a_row
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.widgets.counted import Counted
from judge_tui.tui.widgets.rows import Span

__all__ = ["SIGNS", "Matrix", "abbreviated", "cell_spans"]

#: Columns of a cell: with the worst verdict alone, and at most.
#: Mark, score and letter, and a sign take eight.
_NARROW, _WIDEST = 10, 24


def abbreviated(name: str, width: int) -> str:
    """A name cut in its middle, since names of tasks differ at both ends."""
    if len(name) <= width:
        return fit(name, width)
    tail = max(width // 2 - 1, 0)
    return fit(name[: width - 1 - tail] + "…" + name[len(name) - tail :], width)


class Matrix(Counted, can_focus=True):
    """The table; its cursor is a cell.

    Args:
        board: What is shown.
        name: What a model is called on the screen.
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
        Binding("escape", "unmark", "take all marks away", show=False),
    ]

    BINDINGS = named("matrix", BINDINGS)

    class Pointed(Message):
        """The cursor came to another cell, or the marks changed."""

    class Opened(Message):
        """Enter was pressed on a cell, or it was clicked twice."""

        def __init__(self, cell: Cell) -> None:
            super().__init__()
            self.cell = cell

    def __init__(self, board: HomeBoard, name: Callable[[str], str]) -> None:
        super().__init__(id="matrix")
        self.board, self._called = board, name
        self.row = self.column = 0
        self._top = self._left = 0
        self._names, self._shape = 14, (_NARROW, 1)

    # what is in view

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor."""
        board = self.board
        if self.row < len(board.models) and self.column < len(board.tasks):
            return board.models[self.row], board.tasks[self.column]
        return None

    def point(self, cell: Cell) -> None:
        """Put the cursor on a cell, when it is there."""
        if cell in self.board.cells:
            self._go(self.board.models.index(cell[0]), self.board.tasks.index(cell[1]))

    def renew(self) -> None:
        """Show what the board holds now."""
        self._measure()
        self._go(self.row, self.column)

    def _measure(self) -> None:
        """Columns of the names and of a cell, and how many tasks are in view."""
        longest = max((len(self._called(model)) for model in self.board.models), default=0)
        self._names = min(max(longest, 8) + 3, max(self.size.width // 4, 14))
        room, count = self.size.width - self._names, max(len(self.board.tasks), 1)
        fits = room >= count * _NARROW
        self._shape = (min(room // count, _WIDEST), count) if fits else (_NARROW, max(room // _NARROW, 1))

    @property
    def _rows(self) -> int:
        return max(self.size.height - 1, 1)

    def _go(self, row: int, column: int) -> None:
        board = self.board
        self.row = min(max(row, 0), max(len(board.models) - 1, 0))
        self.column = min(max(column, 0), max(len(board.tasks) - 1, 0))
        _, shown = self._shape
        self._top = min(max(self._top, self.row - self._rows + 1), self.row)
        self._top = max(min(self._top, len(board.models) - self._rows), 0)
        self._left = min(max(self._left, self.column - shown + 1), self.column)
        self._left = max(min(self._left, len(board.tasks) - shown), 0)
        self.refresh()
        self.post_message(self.Pointed())

    # drawing

    def render_line(self, y: int) -> Strip:
        tones, width = tones_of(self.app), self.size.width
        base = tones.text + tones.raised
        if not self.board.cells:
            spans = self._empty(y, width, tones)
        elif y == 0:
            spans = self._head(tones)
        elif self._top + y - 1 < len(self.board.models):
            spans = self._line(self._top + y - 1, base, tones)
        else:
            spans = []
        return in_a_row([Segment(text, base + style) for text, style in spans], width, base)

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
        cell, shown = self._shape
        tasks, models = self.board.tasks, self.board.models
        many = len(models) > self._rows
        rows = f" {self._top + 1}–{min(self._top + self._rows, len(models))} of {len(models)}" if many else ""
        spans: list[Span] = [(fit(rows or " model", self._names), tones.faint)]
        for number, task in enumerate(tasks[self._left : self._left + shown], self._left):
            first, last = number == self._left, number == self._left + shown - 1
            before = "‹" if first and self._left else " "
            after = "›" if last and self._left + shown < len(tasks) else " "
            style = tones.strong if number == self.column else tones.muted
            spans += [
                (before, tones.by_name["accent"]),
                (abbreviated(task, cell - 2), style),
                (after, tones.by_name["accent"]),
            ]
        return spans

    def _line(self, row: int, base: object, tones: Tones) -> list[Span]:
        board, model = self.board, self.board.models[row]
        cell, shown = self._shape
        style = tones.strong if row == self.row else tones.text
        spans: list[Span] = [(" ", style), (fit(self._called(model), self._names - 2), style), (" ", style)]
        for number, task in enumerate(board.tasks[self._left : self._left + shown], self._left):
            here = row == self.row and number == self.column
            ground = (tones.cursor if self.has_focus else tones.cursor_blurred) if here else None
            there = board.outline is not None and (model, task) in board.outline.submitted
            drawn = cell_spans(
                board.standings.get((model, task)),
                cell,
                tones,
                there=there,
                marked=(model, task) in board.marked,
            )
            spans += [(text, ink + ground if ground else ink) for text, ink in drawn]
        return spans

    # keys and mouse

    def on_resize(self) -> None:
        self.renew()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_move(self, rows: int, columns: int) -> None:
        self._go(self.row + rows * self.times, self.column + columns * self.times)

    def action_edge(self, end: int) -> None:
        last = len(self.board.models) - 1 if end else 0
        self._go(self.count - 1 if self.count else last, self.column)

    def action_side(self, end: int) -> None:
        self._go(self.row, len(self.board.tasks) - 1 if end else 0)

    def action_page(self, pages: int) -> None:
        self._go(self.row + pages * self.times * max(self._rows - 1, 1), self.column)

    def action_mark(self) -> None:
        if self.cell is not None:
            told = self.board.mark(self.cell)
            if told:
                self.notify(told, markup=False, timeout=3)
            self.renew()

    def action_unmark(self) -> None:
        self.board.marked.clear()
        self.renew()

    def action_open(self) -> None:
        if self.cell is not None:
            self.post_message(self.Opened(self.cell))

    def on_click(self, event: events.Click) -> None:
        cell, shown = self._shape
        row, column = self._top + event.y - 1, self._left + (event.x - self._names) // cell
        if event.y < 1 or event.x < self._names or row >= len(self.board.models):
            return
        if column < min(self._left + shown, len(self.board.tasks)):
            again = (row, column) == (self.row, self.column) and event.chain > 1
            self._go(row, column)
            if again:
                self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._go(self.row + 1, self.column)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._go(self.row - 1, self.column)


SIGNS = (
    ("○", "a submission without a score"),
    ("·", "no submission"),
    ("✎", "words without a score"),
    ("1/7", "scored dimensions, and how many there are"),
    ("85 B", "judged: points and their letter"),
    ("~", "its files changed since it was scored"),
    ("*", "scored where these files are not"),
    ("✗2 !1 ✓9", "verdicts of its checks, the worst first"),
    ("●", "marked"),
)


def cell_spans(
    said: Standing | None, width: int, tones: Tones, *, there: bool = True, marked: bool = False
) -> Sequence[Span]:
    """One cell: a mark, score or progress, verdicts, and what is off.

    Args:
        said: What is known; ``None`` while it is being read.
        width: Columns of the cell.
        tones: The theme.
        there: Whether there is a submission.
        marked: Whether it is marked.
    """
    mark = ("●" if marked else " ", tones.by_name["accent"])
    if said is None:
        return [mark, (fit("  …", width - 1), tones.faint)]
    if said.fault:
        return [mark, (fit("  ! see below", width - 1), tones.by_name["error"])]
    score, style = _score(said, tones, there=there)
    sign = "~" if said.stale else "*" if said.elsewhere else " "
    checks = _checks(said, width - 8, tones)
    used = sum(len(text) for text, _ in checks)
    return [
        mark,
        (f"{score:<6}", style),
        (sign, tones.by_name["warning" if said.stale else "muted"]),
        *checks,
        (" " * (width - 8 - used), tones.text),
    ]


def _score(said: Standing, tones: Tones, *, there: bool) -> Span:
    if said.blind:
        return " blind", tones.by_name["accent"]
    if said.judged:
        points = f"{said.points:>3}" if said.points is not None else "  –"
        return f"{points} {said.letter}", tones.text if said.stale else tones.strong
    if said.scored:
        return f" {said.scored}/{said.dimensions}", tones.by_name["primary"]
    if said.begun:
        return "  ✎", tones.by_name["primary"]
    return ("  ○", tones.muted) if there else ("  ·", tones.faint)


def _checks(said: Standing, width: int, tones: Tones) -> list[Span]:
    """Verdicts with their counts, the worst first; where room is short, the worst, then the passes, stay."""
    texts = {verdict: f" {SIGN_OF[verdict]}{count}" for verdict, count in said.tally}
    worst = next(iter(texts), None)
    if worst is not None and len(texts[worst]) > width:
        texts[worst] = texts[worst][:2]
    room, kept = width, set()
    for verdict in sorted(texts, key=lambda verdict: (verdict != worst, verdict is not Verdict.PASS)):
        if len(texts[verdict]) <= room:
            kept.add(verdict)
            room -= len(texts[verdict])
    return [(text, tones.verdict(str(verdict))) for verdict, text in texts.items() if verdict in kept]
