"""A report as it will be, on the screen: every shape, its links to code, and a file of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.read_only import refusal
from judge_tui.judging.rounds import round_ids
from judge_tui.judging.summaries.asked import SHAPES, Asked
from judge_tui.judging.summaries.parts import Report
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.background import Background
from judge_tui.tui.keys.bound_keys import key_for, keys_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.reporting import FORMATS, made, written
from judge_tui.tui.screens.export_prompt import ExportPrompt
from judge_tui.tui.screens.report_lines import ReportLine, report_lines
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["ReportScreen"]

#: The shape that shows one of several rounds.
ROUND = "round"
#: What a report is, or why there is none.
Made = Report | str


class _Lines(Rows):
    lines: Sequence[ReportLine] = ()

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        return self.lines[key].spans if isinstance(key, int) and key < len(self.lines) else ()


class ReportScreen(Sheet["tuple[str, str, int] | None"]):
    """Gives title of a model, file and line to jump to, or ``None``.

    Args:
        workspace: What is reported.
        asked: What of it, and in which shape first.
        kept: Brings changes to disk first; why that does not go, else nothing.
        shapes: The shapes that are offered, in their order.
        judge: Whose prose a round is that is begun here.
    """

    BINDINGS: ClassVar = [
        Binding("escape,q", "close", "back"),
        Binding("tab", "shape(1)", "next shape"),
        Binding("shift+tab", "shape(-1)", "previous shape", show=False),
        Binding("right_square_bracket,n", "heading(1)", "next heading", show=False),
        Binding("left_square_bracket,N", "heading(-1)", "previous heading", show=False),
        Binding("less_than_sign", "back_to", "back to where a link came from", show=False),
        Binding("o", "round", "next round", show=False),
        Binding("e", "edit_round", "write a round", show=False),
        Binding("w", "write", "write a file"),
        Binding("r", "reload", "read again"),
    ]

    BINDINGS = named("report", BINDINGS)
    title_of_keys = "Report"
    rows: _Lines

    def __init__(
        self,
        workspace: Workspace,
        asked: Asked,
        kept: Callable[[], str] = lambda: "",
        shapes: Sequence[str] = tuple(SHAPES),
        judge: str = "",
    ) -> None:
        super().__init__()
        self._workspace, self._asked, self._kept = workspace, asked, kept
        self._shapes, self._judge = tuple(shapes), judge
        self._made: dict[str, Made] = {}
        self._came_from: list[int] = []
        self.rows = _Lines()
        self._background: Background | None = None

    def on_mount(self) -> None:
        self._background = Background(self._failed)
        self.hint(
            (
                (key_for(self, "close"), "back"),
                (key_for(self, "shape(1)"), "next shape"),
                (key_for(self.rows, "open"), "follow"),
                (key_for(self, "write"), "write a file"),
                (key_for(self, "round"), "next round"),
                (key_for(self, "edit_round"), "write a round"),
                (keys_for(self, "heading(1)", "heading(-1)"), "headings"),
                (key_for(self, "reload"), "read again"),
            )
        )
        self.rows.focus()
        self._ask()

    def on_unmount(self) -> None:
        if self._background is not None:
            self._background.close()

    def on_resize(self) -> None:
        self._fill()

    @property
    def shape(self) -> str:
        """The shape in view."""
        return self._asked.shape

    @property
    def report(self) -> Report | None:
        """The report in view; ``None`` while it is made, or where there is none."""
        found = self._made.get(self._asked.shape)
        return found if isinstance(found, Report) else None

    # what is in view

    def _ask(self) -> None:
        """Have the present shape made, unless it is there."""
        self._fill()
        asked = self._asked
        if asked.shape in self._made or self._background is None:
            return
        job = partial(_try, self._workspace, asked, self._kept)
        self._background.submit(job, partial(self._take, asked))

    def _take(self, asked: Asked, found: Made) -> None:
        if asked.rounds != self._asked.rounds:
            # another round is asked for by now
            return
        self._made[asked.shape] = found
        if asked.shape == self._asked.shape:
            self._fill()

    def _failed(self, told: str) -> None:
        self._take(self._asked, told)

    def _fill(self) -> None:
        found = self._made.get(self._asked.shape)
        tones, width = tones_of(self.app), max(self.size.width - 1, 20)
        if isinstance(found, Report):
            lines = report_lines(found, width, tones)
        else:
            lines = [ReportLine(((f" {found or 'reading…'}", tones.muted),))]
        self.rows.lines = lines
        self.rows.show(range(len(lines)))
        self._head(found)

    def _head(self, found: Made | None) -> None:
        shapes = [
            (
                f" {shape} ",
                "strong" if shape == self._asked.shape else "muted",
                0 if shape == self._asked.shape else 2,
            )
            for shape in self._shapes
        ]
        title = found.title if isinstance(found, Report) else ""
        self.query_one(Bar).tell([(" Report ", "primary", 0), *shapes], [(f"{title} ", "muted", 3)])

    def action_shape(self, step: int) -> None:
        """The next shape, or the one before."""
        shape = self._shapes[(self._shapes.index(self._asked.shape) + step) % len(self._shapes)]
        self._made.pop(ROUND, None)
        self._asked = replace(self._asked, shape=shape, rounds=())
        self._came_from.clear()
        self.rows.go(0)
        self._ask()

    def action_round(self) -> None:
        """The next round of the workspace, behind the last one all that was scored."""
        rounds = ["", *round_ids(self._workspace)]
        if len(rounds) < 2:
            self.notify("Nobody has written a round: rounds/<id>.toml", markup=False, timeout=4)
            return
        shown = self._asked.rounds[0] if self._asked.rounds and self._asked.shape == ROUND else ""
        at = rounds.index(shown) + 1 if shown in rounds else 1
        self._show_round(rounds[at % len(rounds)])

    def _show_round(self, name: str) -> None:
        """Show a round; all that was scored where it has no name."""
        self._made.pop(ROUND, None)
        self._asked = replace(self._asked, shape=ROUND, rounds=(name,) if name else ())
        self._came_from.clear()
        self.rows.go(0)
        self._ask()

    def action_edit_round(self) -> None:
        """Write the round in view in the judge's editor, or a new one of what is in view."""
        from judge_tui.tui.screens.round_writing import write_round

        name = self._asked.rounds[0] if self._asked.rounds and self._asked.shape == ROUND else ""
        try:
            written = write_round(self, self._workspace, name, self.report, self._judge)
        except JudgeError as error:
            self.notify(str(error), severity="error", markup=False, timeout=8)
            return
        if written:
            self._made.clear()
            self._show_round(written)

    def action_reload(self) -> None:
        self._made.clear()
        self._ask()

    # moving about

    def action_heading(self, step: int) -> None:
        """The next heading, or the one before."""
        at = [n for n, line in enumerate(self.rows.lines) if line.heading]
        beyond = (
            [n for n in at if n > self.rows.cursor]
            if step > 0
            else [n for n in at if n < self.rows.cursor][::-1]
        )
        if beyond:
            self._go(beyond[0])

    def _go(self, row: int) -> None:
        """Put the cursor on a row, and the row at the top."""
        self.rows.scroll_to(y=max(row - 1, 0), animate=False, force=True)
        self.rows.go(row)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        line = self.rows.lines[event.key] if isinstance(event.key, int) else ReportLine()
        if line.place is not None:
            self.dismiss(line.place)
            return
        target = next(
            (n for n, one in enumerate(self.rows.lines) if one.anchor in line.leads and one.anchor), None
        )
        if target is None:
            told = "This line leads nowhere: what is underlined does, and so does code."
            self.notify(told, markup=False, timeout=3)
            return
        self._came_from.append(self.rows.cursor)
        self._go(target)

    def action_back_to(self) -> None:
        """Back to where a link was followed."""
        if self._came_from:
            self._go(self._came_from.pop())

    # a file of it

    def action_write(self) -> None:
        report = self.report
        if report is None:
            self.notify("There is no report to write yet.", markup=False, timeout=3)
            return
        if refused := refusal():
            # before a path is asked for: what is said of one tells what is there
            self.notify(str(refused), severity="error", markup=False, timeout=4)
            return
        how = f"it ends in {', '.join(FORMATS)} · {{write}} writes it"
        prompt = ExportPrompt("Write the report into", f"report-{report.shape}.html", how)
        self.app.push_screen(prompt, partial(self._write, report))

    def _write(self, report: Report, name: str | None) -> None:
        if name is None or self._background is None:
            return
        file = self._workspace.root / os.path.expanduser(name)
        self._background.submit(partial(_written, self._workspace, report, file, name), self._tell)

    def _tell(self, told: tuple[str, bool]) -> None:
        text, failed = told
        self.notify(text, severity="error" if failed else "information", markup=False, timeout=8)


def _try(workspace: Workspace, asked: Asked, kept: Callable[[], str]) -> Made:
    if why := kept():
        return f"Nothing is reported: {why}"
    try:
        return made(workspace, asked)
    except JudgeError as error:
        return " ".join(filter(None, (str(error), error.hint)))


def _written(workspace: Workspace, report: Report, file: Path, name: str) -> tuple[str, bool]:
    try:
        told = written(workspace, report, file)
    except JudgeError as error:
        return str(error), True
    return " ".join(filter(None, (f"{name} is written.", told))), False
