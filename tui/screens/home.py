"""Home: models × tasks, what to compare next, and what was compared before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message

from judge_tui.judging.fellow_judges import Fellow
from judge_tui.judging.pairs import Pair
from judge_tui.tui.background import Background
from judge_tui.tui.home_board import Cell, HomeBoard
from judge_tui.tui.home_reading import HomeReading
from judge_tui.tui.home_rows import outcome
from judge_tui.tui.keys.bound_keys import KeyPart, key_for, listed, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.past import Past, PastComparisons
from judge_tui.tui.screens.home_ordering import HomeOrdering
from judge_tui.tui.screens.home_words import attempted, checked, compared, left_by, moment, scored
from judge_tui.tui.textual_private.covered import CoveredScreen
from judge_tui.tui.widgets.bar import Bar, Part, judge_parts, told_origins
from judge_tui.tui.widgets.home_lists import HomeList, JudgeRows, PastRows, QueueRows, side_by_side
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.matrix import Matrix
from judge_tui.tui.widgets.matrix_cells import SIGNS
from judge_tui.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from judge_tui.tui.home_checking import HomeChecking
    from judge_tui.tui.widgets.filter_bar import FilterBar

__all__ = ["HomeScreen"]

#: Rows that the lists keep, whatever the matrix wants.
_LISTS = 6
#: Rows of header, details, title of the lists and hints.
_FIXED = 7
#: Seconds between two looks at how far a check of the workspace is.
_LOOK_S = 2.0
#: Seconds until somebody who types is asked again whether they rest.
_MOMENT_S = 0.1


class HomeScreen(CoveredScreen[None]):
    """The workspace in view; asks for comparisons to be opened.

    Args:
        board: What is shown.
        past: Comparisons of earlier.
        clock: Formats a moment; tests pin it.
    """

    BINDINGS: ClassVar = [
        Binding("n", "next", "next to judge"),
        Binding("slash", "filter", "filter"),
        Binding("s", "sort", "sort by"),
        Binding("S", "turn", "the other way round", show=False),
        Binding("tab", "part(1)", "next list"),
        Binding("shift+tab", "part(-1)", "previous list", show=False),
        Binding("q", "app.quit", "quit"),
        Binding("v", "scores", "scores as bars", show=False),
        Binding("r", "reload", "read again", show=False),
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
        self.matrix = Matrix(board, self.name_of, self._pointed)
        self.queue = HomeList("Next to judge", QueueRows(self.name_of), "reading…")
        rows = PastRows(self.name_of, clock or moment, self._won)
        self.past = HomeList("Compared before", rows, "Nothing yet.", second=True)
        self.judges = HomeList("Judges", JudgeRows(), "", second=True)
        # asked for by name, they would be missed while the screen is taken down
        self.header, self.about, self.said = Bar(id="header"), Bar(id="about"), Bar(id="said")
        self.hints = KeyHints(id="hints")
        self._list, self._hinted = self.queue, 0
        self.reading: HomeReading | None = None
        self.ordering = HomeOrdering(self, board, self.matrix)
        self.checking: HomeChecking | None = None

    def name_of(self, model: str) -> str:
        """What a model is called on this screen; every name goes through here."""
        return self.board.name(model)

    def _won(self, past: Past) -> tuple[str, str, str, str] | None:
        found = self.board.matchup(past.task, past.models)
        return None if found is None else outcome(found, self.name_of)

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.matrix
        with Vertical(id="details"):
            yield self.about
            yield self.said
        with Horizontal(id="lists"):
            yield self.queue
            yield self.past
            yield self.judges
        yield self.hints

    def on_mount(self) -> None:
        self.query_one("#details").styles.height = 2
        background = Background(partial(self.notify, severity="error", markup=False))
        app = self.app
        self.reading = HomeReading(
            self.board,
            self._past,
            background,
            self._show,
            self._show_past,
            awaited=lambda: self.is_current,
            resting=lambda: not isinstance(app, TypeAhead) or app.resting,
            later=partial(self.set_timer, _MOMENT_S),
        )
        self.matrix.focus()
        self._show()
        # the frame is on screen first; what is in it comes behind
        self.call_after_refresh(self.action_reload)
        self.set_interval(_LOOK_S, self._look_at_checks)

    def on_unmount(self) -> None:
        if self.reading is not None:
            self.reading.stop()

    # reading

    def action_reload(self) -> None:
        """Read everything again, what is known staying in view."""
        assert self.reading is not None
        self.reading.all_again()

    async def _look_at_checks(self) -> None:
        """See how far a 'check' of this workspace is, and what it has found."""
        from judge_tui.tui.home_checking import HomeChecking

        self.checking = self.checking or HomeChecking(self.board.workspace.root)
        before = self.checking.told
        if await self.checking.look() and self.settled:
            self.action_reload()
        if self.checking.told != before:
            self._retell()

    def reread(self, task: str) -> None:
        """Read the cells of a task again, as after a comparison."""
        assert self.reading is not None
        self.reading.task_again(task)

    def on_screen_resume(self) -> None:
        if self.reading is not None:
            self.reading.resume()

    @property
    def settled(self) -> bool:
        """Whether everything has been read."""
        return self.reading is not None and self.reading.settled

    # showing

    def _show(self) -> None:
        board, stay = self.board, self.matrix.cell
        self.matrix.renew(stay)
        self.queue.show(board.queue, board.nothing_due)
        self.judges.show(board.fellows)
        self.past.rows.refresh()
        self.ordering.count()
        self._arrange()
        self._retell()
        self._hint()

    def _show_past(self, found: Sequence[Past]) -> None:
        self.past.show(found)
        self._arrange()

    @property
    def _lists(self) -> list[HomeList]:
        """The lists that there are; that of the judges where others judge too."""
        return [self.queue, self.past, *([self.judges] if self.board.fellows else [])]

    def _arrange(self) -> None:
        rest = max(self.size.height - _FIXED, 4)
        wanted = len(self.board.rows) + 2 if self.board.cells else 4
        self.matrix.styles.height = max(min(wanted, rest - _LISTS + 2), 3)

        there = self._lists
        self._list = self._list if self._list in there else self.queue
        self.judges.display = self.judges in there
        side_by_side(there, self._list, self.size.width, key_for(self, "part(1)"))

    def on_resize(self) -> None:
        self._arrange()

    def _pointed(self) -> None:
        self._describe()
        if len(self.board.marked) != self._hinted:
            # what keys do hangs on nothing else here, and is not looked up at every step
            self._hint()

    def _retell(self) -> None:
        board = self.board
        there = [said for said in board.standings.values() if said.files]
        origins = told_origins(said.origin for said in there)
        judged = sum(said.judged for said in there)
        count = len(board.outline.submitted) if board.outline else 0
        reading = f"reading {len(board.standings)}/{len(board.cells)}"
        progress = f"{judged} of {count} judged" if board.whole else reading
        stale = sum(said.stale for said in there)
        checking = self.checking.told if self.checking is not None else ""
        self.header.tell(
            [(" judge-tui ", "primary", 1), (f" {board.workspace.title} ", "strong", 0)],
            [
                (f"{origins} · " if origins else "", "accent", 2),
                *judge_parts(board.judge),
                (f"{stale} stale · " if stale else "", "warning", 1),
                (f"checking {checking} · " if checking else "", "accent", 0),
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
        about.tell([*head, *checked(said)], [(f"{told_origins([said.origin])} ", "accent", 2)])
        words = [(f" {fault}", "error", 0)] if fault else [*scored(said), *compared(self.board, said)]
        told.tell(words, attempted(self.board.attempts(cell)))

    def _hint(self) -> None:
        focused = self.focused
        marked = self._hinted = len(self.board.marked)
        hints: dict[str, str] = {}
        asks, enter = key_for(self, "help"), key_for(focused or self, "open")
        for node in (focused, self):
            for keys, text, shown in listed(own_bindings(node) if node is not None else ()):
                key = keys.split(" ")[0]
                if shown and key not in hints and key not in (asks, enter):
                    hints[key] = text
        opens = "resume" if focused is self.past.rows else "compare"
        told = (
            []
            if not enter
            else [(enter, f"{opens} {marked}" if marked > 1 and focused is self.matrix else opens)]
        )
        self.hints.tell((*told, *hints.items()), (asks, "help"))

    def on_descendant_focus(self) -> None:
        self._hint()

    # keys

    def action_part(self, step: int) -> None:
        parts = [self.matrix, *(each.rows for each in self._lists)]
        at = parts.index(self.focused) if self.focused in parts else 0
        to = parts[(at + step) % len(parts)]
        self._list = next((each for each in self._lists if each.rows is to), self.queue)
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
        elif isinstance(event.key, Fellow):
            self.notify(left_by(self.board, event.key), markup=False, timeout=8)

    # order and filter

    def action_sort(self) -> None:
        self.ordering.choose()

    def action_turn(self) -> None:
        self.ordering.by(self.board.order.column)

    def on_matrix_sorted(self, event: Matrix.Sorted) -> None:
        self.ordering.by(event.column)

    def action_filter(self) -> None:
        self.ordering.open_filter()

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        self.ordering.narrow(event.text)
        self._arrange()

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        if not event.kept:
            self.on_matrix_unfiltered()
        self.matrix.focus()

    def on_matrix_unfiltered(self) -> None:
        self.ordering.drop_filter()
        self._arrange()

    def _ask(self, task: str, models: tuple[str, ...]) -> None:
        self.matrix.point((models[0], task))
        self.post_message(self.Asked(task, models))

    def action_export(self) -> None:
        from judge_tui.tui.screens.export_prompt import ask_to_export

        ask_to_export(self, self.board.workspace)

    def action_report(self) -> None:
        from judge_tui.judging.summaries.asked import SHAPES, Asked
        from judge_tui.tui.screens.report import ReportScreen

        board = self.board
        # where blind is the rule, verdicts beside names would tell who is who in what is still to be judged
        shapes = [shape for shape in SHAPES if shape != "metrics" or not board.workspace.settings.blind]
        asked = Asked("head-to-head")
        self.app.push_screen(ReportScreen(board.workspace, asked, shapes=shapes, judge=board.judge))

    def action_scores(self) -> None:
        from judge_tui.tui.screens.scores import ScoresScreen

        def go(cell: Cell | None) -> None:
            if cell is not None:
                self.matrix.point(cell)

        if (cell := self.matrix.cell) is not None:
            self.app.push_screen(ScoresScreen(self.board, cell[1]), go)

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
