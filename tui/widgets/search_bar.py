"""The search line: a query for all panes at once, with counts."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.line_input import LineInput

__all__ = ["SearchBar"]


class _Query(LineInput):
    BINDINGS: ClassVar = [
        Binding("enter", "close(True)", "keep the hits"),
        Binding("ctrl+r", "regex", "regular expression"),
        Binding("escape", "close(False)", "drop the hits"),
    ]

    BINDINGS = named("search", BINDINGS)

    @property
    def _bar(self) -> SearchBar:
        assert isinstance(self.parent, SearchBar)
        return self.parent

    def action_regex(self) -> None:
        self._bar.toggle_regex()

    def action_close(self, kept: bool) -> None:
        self._bar.post_message(SearchBar.Closed(kept=kept))


class SearchBar(Horizontal):
    """Shown while a query is typed; Enter keeps the hits and stays, Escape drops them and goes back."""

    DEFAULT_CSS = """
    SearchBar { height: 1; background: $panel; }
    SearchBar Input, SearchBar Input:focus {
        border: none; height: 1; padding: 0; background: $panel; width: 1fr; }
    SearchBar Bar { width: 44; background: $panel; }
    SearchBar #search-sign { width: 2; }
    """

    class Changed(Message):
        """Another query."""

        def __init__(self, text: str, regex: bool) -> None:
            super().__init__()
            self.text, self.regex = text, regex

    class Closed(Message):
        """The query is done; ``kept`` when its hits stay."""

        def __init__(self, *, kept: bool) -> None:
            super().__init__()
            self.kept = kept

    def __init__(self, text: str, *, regex: bool) -> None:
        super().__init__(id="search")
        self._text, self.regex = text, regex
        self._counts = Bar()

    def compose(self) -> ComposeResult:
        sign = Bar(id="search-sign")
        sign.tell([("/ ", "accent", 0)])
        yield sign
        yield _Query(self._text, select_on_focus=True)
        yield self._counts

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.count("")

    def count(self, text: str, *, wrong: bool = False) -> None:
        """Show how many hits there are, or what is wrong with the query."""
        state = f"regex {'on' if self.regex else 'off'} ({key_for(self.query_one(_Query), 'regex')}) "
        self._counts.tell(
            [],
            [
                (f"{text}  ", "error" if wrong else "accent", 0),
                (state, "accent" if self.regex else "muted", 1),
            ],
        )

    def toggle_regex(self) -> None:
        """Read the query as a regular expression, or plainly again."""
        self.regex = not self.regex
        self.post_message(self.Changed(self.query_one(Input).value, self.regex))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value, self.regex))
