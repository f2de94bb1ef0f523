"""Home: models × tasks, what to compare next, and what was compared before."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message

from judge_tui.judging import attempt_figures
from judge_tui.judging.pairs import Pair
from judge_tui.judging.standing import Outline, Standing
from judge_tui.tui.background import Background
from judge_tui.tui.home_board import Batch, Cell, HomeBoard
from judge_tui.tui.keys.bound_keys import KeyPart, key_for, listed, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.past import Past, PastComparisons
from judge_tui.tui.textual_private.covered import CoveredScreen
from judge_tui.tui.widgets.bar import Bar, Part, judge_parts
from judge_tui.tui.widgets.home_lists import HomeList, PastRows, QueueRows
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.matrix import SIGNS, Matrix
from judge_tui.tui.widgets.rows import Rows

__all__ = ["HomeScreen"]

#: Rows that the lists keep, whatever the matrix wants.
_LISTS = 6
#: Rows of header, details, title of the lists and hints.
_FIXED = 7
#: Columns from which on both lists stand beside each other.
_BOTH = 100


class HomeScreen(CoveredScreen[None]):
    """The workspace in view; asks for comparisons to be opened.

    Args:
        board: What is shown.
        past: Comparisons of earlier.
        clock: Formats a moment; tests pin it.
    """

    BINDINGS: ClassVar = [
        Binding("n", "next", "next to judge"),
        Binding("tab", "part(1)", "next list"),
        Binding("shift+tab", "part(-1)", "previous list", show=False),
        Binding("q", "app.quit", "quit"),
        Binding("r", "reload", "read again"),
        Binding("B,R", "report", "report"),
        Binding("I", "statement", "what the task asks for", show=False),
        Binding("W", "export", "export the scoreboard", show=False),
        Binding("ctrl+z", "app.suspend_process", "to the shell (fg comes back)", show=False),
        Binding("question_mark,f1", "help", "help"),
    ]

    BINDINGS = named("home", BINDINGS)

    DEFAULT_CSS = """
    HomeScreen { layout: vertical; background: $surface; }
    HomeScreen #about, HomeScreen #said { background: $panel; }
    HomeScreen #lists { height: 1fr; }
    """

    class Asked(Message):
        """A comparison is to be opened, as it was left if it ever was."""

        def __init__(self, task: str, models: tuple[str, ...]) -> None:
            super().__init__()
            self.task, self.models = task, models

    def __init__(
        self, board: HomeBoard, past: PastComparisons, clock: Callable[[float], str] | None = None
    ) -> None:
        super().__init__()
        self.board, self._past = board, past
        self.matrix = Matrix(board, self.name_of)
        self.queue = HomeList("Next to judge", QueueRows(self.name_of), "reading…")
        self.past = HomeList(
            "Compared before", PastRows(self.name_of, clock or _moment), "Nothing yet.", second=True
        )
        # asked for by name, they would be missed while the screen is taken down
        self.header, self.about, self.said = Bar(id="header"), Bar(id="about"), Bar(id="said")
        self.hints = KeyHints(id="hints")
        self._list = self.queue
        self._background: Background | None = None
        self._left: deque[Cell] = deque()
        self._reading = 0

    def name_of(self, model: str) -> str:
        """What a model is called on this screen; every name goes through here."""
        titles = self.board.outline.titles if self.board.outline else {}
        return titles.get(model) or self.board.workspace.settings.titles.get(model, model)

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.matrix
        with Vertical(id="details"):
            yield self.about
            yield self.said
        with Horizontal(id="lists"):
            yield self.queue
            yield self.past
        yield self.hints

    def on_mount(self) -> None:
        self.query_one("#details").styles.height = 2
        self._background = Background(partial(self.notify, severity="error", markup=False))
        self.matrix.focus()
        self._show()
        # the frame is on screen first; what is in it comes behind
        self.call_after_refresh(self.action_reload)

    def on_unmount(self) -> None:
        self._reading += 1

    # reading

    def action_reload(self) -> None:
        """Read everything again, what is known staying in view."""
        self._reading += 1
        reading = self._reading
        assert self._background is not None

        def listed_(found: Outline | str) -> None:
            if reading == self._reading:
                self.board.take_outline(found)
                for task in self.board.tasks:
                    self.board.forget_task(task)
                self._left = deque(self.board.cells)
                self._past_again()
                self._show()
                self._read_on()

        self._background.submit(self.board.listing, listed_)

    def reread(self, task: str) -> None:
        """Read the cells of a task again, as after a comparison."""
        self._reading += 1
        cells = self.board.forget_task(task)
        self._left = deque([*cells, *(cell for cell in self._left if cell[1] != task)])
        self._past_again()
        self._read_on()

    def _past_again(self) -> None:
        assert self._background is not None
        self._background.submit(self._past.read, self._take_past)

    def _take_past(self, found: Sequence[Past]) -> None:
        there = self.board.outline.submitted if self.board.outline else frozenset()
        kept = [past for past in found if all((model, past.task) in there for model in past.models)]
        self.past.show(kept)
        self._arrange()

    def _read_on(self) -> None:
        reading, left = self._reading, self._left
        assert self._background is not None
        if not left:
            self._show()
            return

        def read(batch: Batch) -> None:
            if reading == self._reading:
                self.board.take(batch)
                self._left = batch.left
                self._show()
                # behind a comparison nothing is read: the code must scroll
                if self.is_current:
                    self._read_on()

        self._background.submit(lambda: self.board.read(left, lambda: reading == self._reading), read)

    def on_screen_resume(self) -> None:
        if self._background is not None and self._left and self._reading:
            self._reading += 1
            self._read_on()

    @property
    def settled(self) -> bool:
        """Whether everything has been read."""
        known = self.board.outline is not None or bool(self.board.fault)
        return known and self._background is not None and not self._background.waiting and not self._left

    # showing

    def _show(self) -> None:
        self.matrix.renew()
        board = self.board
        self.queue.show(board.queue, board.nothing_due)
        self._arrange()
        self._retell()
        self._hint()

    def _arrange(self) -> None:
        rest = max(self.size.height - _FIXED, 4)
        wanted = len(self.board.models) + 2 if self.board.cells else 4
        self.matrix.styles.height = max(min(wanted, rest - _LISTS + 2), 3)

        # two lists beside each other would cut the names on a narrow screen
        both, past = self.size.width >= _BOTH, self._list is self.past
        self.queue.display, self.past.display = both or not past, both or past
        self.past.set_class(both, "-second")
        other = key_for(self, "part(1)")
        self.queue.aside = "" if both else f"{other}: {self.past.told}"
        self.past.aside = "" if both else f"{other}: {self.queue.told}"
        self.queue.retitle()
        self.past.retitle()

    def on_resize(self) -> None:
        self._arrange()

    def on_matrix_pointed(self) -> None:
        self._describe()
        self._hint()

    def _retell(self) -> None:
        board = self.board
        known = list(board.standings.values())
        there = [said for said in known if said.files]
        origins = " / ".join(sorted({said.origin for said in there} - {""}))
        judged = sum(said.judged for said in there)
        count = len(board.outline.submitted) if board.outline else 0
        progress = (
            f"{judged} of {count} judged" if board.whole else f"reading {len(known)}/{len(board.cells)}"
        )
        stale = sum(said.stale for said in there)
        self.header.tell(
            [(" judge-tui ", "primary", 1), (f" {board.workspace.title} ", "strong", 0)],
            [
                (f"{origins} · " if origins else "", "accent", 2),
                *judge_parts(board.judge),
                (f"{stale} stale · " if stale else "", "warning", 1),
                (f"{progress} ", "muted", 0),
            ],
        )

    def _describe(self) -> None:
        """The cell under the cursor in words."""
        cell = self.matrix.cell
        said = self.board.standings.get(cell) if cell else None
        about, told = self.about, self.said
        if cell is None or said is None:
            about.tell([(f" {self.name_of(cell[0])} › {cell[1]}" if cell else "", "muted", 0)])
            told.tell([])
            return
        head: list[Part] = [(f" {self.name_of(said.model)}", "strong", 0), (f" › {said.task}  ", "muted", 0)]
        if said.fault:
            about.tell(head)
            told.tell([(f" {said.fault}", "error", 0)])
            return
        fault = self.board.faults.get(said.task)
        about.tell([*head, *_checked(said)], [(f"{said.origin} ", "accent", 2)])
        told.tell([(f" {fault}", "error", 0)] if fault else _scored(said), self._attempted(cell))

    def _attempted(self, cell: Cell) -> list[Part]:
        """What all attempts come to that the cell's is one of."""
        found = self.board.attempts(cell)
        parts = [] if found is None else attempt_figures.told(found)
        return [(f"{' · ' if rank else ''}{part}", "accent", 3 + rank) for rank, part in enumerate(parts)]

    def _hint(self) -> None:
        focused = self.focused
        marked = len(self.board.marked)
        hints: dict[str, str] = {}
        asks, enter = key_for(self, "help"), key_for(focused or self, "open")
        for node in (focused, self):
            for keys, text, shown in listed(own_bindings(node) if node is not None else ()):
                key = keys.split(" ")[0]
                if shown and key not in hints and key not in (asks, enter):
                    hints[key] = text
        opens = "resume" if focused is self.past.rows else "compare"
        told = [(enter, f"{opens} {marked}" if marked > 1 and focused is self.matrix else opens)]
        self.hints.tell((*told, *hints.items()), (asks, "help"))

    def on_descendant_focus(self) -> None:
        self._hint()

    # keys

    def action_part(self, step: int) -> None:
        parts = [self.matrix, self.queue.rows, self.past.rows]
        at = parts.index(self.focused) if self.focused in parts else 0
        to = parts[(at + step) % len(parts)]
        self._list = self.past if to is self.past.rows else self.queue
        self._arrange()
        to.focus()

    def action_next(self) -> None:
        if self.board.queue:
            pair = self.board.queue[0]
            self._ask(pair.task, pair.models)
        else:
            whole = self.board.whole
            told = self.board.nothing_due if whole else "Still reading: nothing is known to be due."
            self.notify(told, markup=False, timeout=3)

    def on_matrix_opened(self, event: Matrix.Opened) -> None:
        chosen = self.board.chosen(event.cell)
        if isinstance(chosen, str):
            self.notify(chosen, markup=False, timeout=3)
        else:
            self._ask(event.cell[1], chosen)
            # they have done their work; left there, the next Enter would open the same again
            self.board.marked.clear()
            self.matrix.renew()

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        if isinstance(event.key, Pair | Past):
            self._ask(event.key.task, event.key.models)

    def _ask(self, task: str, models: tuple[str, ...]) -> None:
        self.matrix.point((models[0], task))
        self.post_message(self.Asked(task, models))

    def action_export(self) -> None:
        from judge_tui.tui.screens.export_prompt import ask_to_export

        ask_to_export(self, self.board.workspace)

    def action_report(self) -> None:
        from judge_tui.judging.summaries.asked import SHAPES, Asked
        from judge_tui.tui.screens.report import ReportScreen

        # where blind is the rule, verdicts beside names would tell who is who in what is still to be judged
        shapes = [shape for shape in SHAPES if shape != "metrics" or not self.board.workspace.settings.blind]
        screen = ReportScreen(
            self.board.workspace, Asked("head-to-head"), shapes=shapes, judge=self.board.judge
        )
        self.app.push_screen(screen)

    def action_statement(self) -> None:
        from judge_tui.tui.screens.statement import show_statement

        if (cell := self.matrix.cell) is not None:
            show_statement(self, self.board.workspace, cell[1])

    def action_help(self) -> None:
        from judge_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.key_parts()))

    def key_parts(self) -> Sequence[KeyPart]:
        """What answers to keys here."""
        rows = self._list.rows
        parts = [
            KeyPart("Models × tasks", self.matrix, self.matrix.focus, SIGNS),
            KeyPart("Lists", rows, rows.focus),
        ]
        return [*(parts if self.focused is self.matrix else reversed(parts)), KeyPart("Everywhere", self)]


def _scored(said: Standing) -> list[Part]:
    """What the judge has said, in words."""
    parts: list[Part] = []
    if said.blind:
        return [(" judged blind: scores are told once the names are revealed", "accent", 0)]
    if said.judged:
        total = f"{said.points} points" if said.points is not None else "no points"
        parts.append((f" {total}{f', {said.letter}' if said.letter else ''}", "text", 0))
    elif not said.files:
        return [(" no submission", "muted", 0)]
    elif not said.begun:
        parts.append((" not scored yet", "muted", 0))
    if said.scored or said.judged:
        share = f"{said.scored} of {said.dimensions} dimensions"
        parts.append((f"{' ·' if parts else ''} {share} scored", "muted", 1))
    if said.mean is not None and not said.judged:
        parts.append((f", mean {said.mean}", "muted", 2))
    if said.notes:
        parts.append((f" · {said.notes} note{'s' * (said.notes > 1)}", "muted", 3))
    if said.newer:
        parts.append((" · read-only: written by a newer judge-tui", "warning", 0))
    if said.stale:
        parts.append((" · ~ files changed since they were scored", "warning", 0))
    if said.elsewhere:
        parts.append((" · * scored on files elsewhere", "muted", 0))
    if said.others:
        parts.append((f" · also scored by {', '.join(said.others)}", "muted", 4))
    return parts


def _checked(said: Standing) -> list[Part]:
    """What the stored verdicts are, in words."""
    if not said.files:
        return []
    if said.blind or said.withheld:
        # which of them there are would tell who is who
        return [("verdicts are told once the names are revealed", "muted", 1)]
    if not said.verdicts:
        return [("no verdicts of these files yet", "muted", 1)]
    return [
        (f"{VERDICTS[str(verdict)][0]} {count} {verdict}  ", VERDICTS[str(verdict)][1], 1)
        for verdict, count in said.tally
    ]


def _moment(at: float) -> str:
    try:
        then, now = time.localtime(at), time.localtime()
    except (OverflowError, ValueError, OSError):
        # no moment that a calendar has
        return ""
    today = (then.tm_year, then.tm_yday) == (now.tm_year, now.tm_yday)
    return time.strftime("%H:%M" if today else "%d %b" if then.tm_year == now.tm_year else "%Y-%m-%d", then)
