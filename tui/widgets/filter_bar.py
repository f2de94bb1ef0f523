"""The line of the filter on Home: words that narrow the rows while they are typed."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from judge_tui.tui.keys.keymap import named
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.line_input import LineInput

__all__ = ["FilterBar"]


class _Words(LineInput):
    BINDINGS: ClassVar = [
        Binding("enter,down", "close(True)", "keep the filter"),
        Binding("escape", "close(False)", "show all again"),
    ]

    BINDINGS = named("filter", BINDINGS)

    def action_close(self, kept: bool) -> None:
        self.post_message(FilterBar.Closed(kept=kept and bool(self.value.strip())))


class FilterBar(Horizontal):
    """Stays in view while rows are left out; Enter goes to the rows, Escape shows all of them.

    Args:
        placeholder: What may be typed.
    """

    DEFAULT_CSS = """
    FilterBar { height: 1; background: $panel; }
    FilterBar Input, FilterBar Input:focus {
        border: none; height: 1; padding: 0; background: $panel; width: 1fr; }
    FilterBar Input > .input--placeholder { color: $foreground 78%; }
    FilterBar Bar { width: 24; background: $panel; }
    FilterBar #filter-sign { width: 3; }
    """

    class Changed(Message):
        """Other words."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The words are typed; ``kept`` when they go on to narrow the rows."""

        def __init__(self, *, kept: bool) -> None:
            super().__init__()
            self.kept = kept

    def __init__(self, placeholder: str) -> None:
        super().__init__(id="filter")
        self._words = _Words(placeholder=placeholder, select_on_focus=True)
        self._sign, self._count = Bar(id="filter-sign"), Bar()

    def compose(self) -> ComposeResult:
        self._sign.tell([(" / ", "accent", 0)])
        yield self._sign
        yield self._words
        yield self._count

    def on_mount(self) -> None:
        self.take_focus()

    def take_focus(self) -> None:
        """Have words typed, or typed anew."""
        self._words.focus()

    def count(self, shown: int, there: int) -> None:
        """Tell how many rows are in view."""
        self._count.tell([], [(f"{shown} of {there} ", "muted" if shown else "warning", 0)])

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))
