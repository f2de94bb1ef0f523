"""The editor for one line of a matchup: its name, what each submission shows, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static, TextArea

from judge_tui.judging.matchup import Criterion
from judge_tui.tui.look.glyphs import neutral
from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.screens.dialog import Editor
from judge_tui.tui.textual_private.prose_area import ProseArea
from judge_tui.tui.widgets.line_input import LineInput

__all__ = ["CriterionEditor"]


class CriterionEditor(Editor):
    """A criterion; every change of it is told at once, so that closing cannot lose it.

    Args:
        title: Which line it is.
        criterion: Its present state.
        columns: Model and what it is called on the screen, in the order of the panes.
        changed: Told each new state.
        new: Begin with the name, as for a new line.
    """

    DEFAULT_CSS = """
    CriterionEditor Horizontal { height: 1; }
    CriterionEditor .label { width: 22; color: $foreground 78%; height: 1; }
    CriterionEditor TextArea, CriterionEditor TextArea:focus { height: 4; }
    CriterionEditor Input { width: 1fr; }
    """

    def __init__(
        self,
        title: str,
        criterion: Criterion,
        columns: Sequence[tuple[str, str]],
        changed: Callable[[Criterion], None],
        *,
        new: bool,
    ) -> None:
        super().__init__()
        self._title, self._criterion, self._columns = title, criterion, tuple(columns)
        self._changed, self._new = changed, new

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._title)
            with Horizontal():
                yield Static("criterion", classes="label", markup=False)
                yield LineInput(self._criterion.name, id="name", select_on_focus=False)
            for index, (model, title) in enumerate(self._columns):
                with Horizontal():
                    yield Static(neutral(title)[:21], classes="label", markup=False)
                    yield LineInput(
                        self._criterion.cells.get(model, ""), id=f"cell-{index}", select_on_focus=False
                    )
            yield Static("why", classes="label", markup=False)
            yield ProseArea(self._criterion.note)
            yield self.hint(f"{self.moves}, enter move · {self.closes}")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        if self._new:
            self.query_one("#name").focus()
        else:
            area.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_next()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._tell()

    def on_text_area_changed(self) -> None:
        self._tell()

    def _tell(self) -> None:
        if not self.is_mounted:
            return
        shown = {model for model, _ in self._columns}
        cells = {model: text for model, text in self._criterion.cells.items() if model not in shown}
        for index, (model, _) in enumerate(self._columns):
            text = self.query_one(f"#cell-{index}", Input).value
            if text:
                cells[model] = text
        criterion = replace(
            self._criterion,
            name=self.query_one("#name", Input).value,
            cells=cells,
            note=self.query_one(TextArea).text,
        )
        if criterion != self._criterion:
            self._criterion = criterion
            self._changed(criterion)
