"""What the lists that fill the screen share: a title, rows, the keys below, and a page of help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from judge_tui.tui.keys.bound_keys import KeyPart, key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.rows import Rows

__all__ = ["Sheet"]

Result = TypeVar("Result")


class Sheet(ModalScreen[Result]):
    """A modal list as large as the terminal.

    Attributes:
        title_of_keys: What help calls its keys.
    """

    DEFAULT_CSS = "Sheet { background: $surface; } Sheet Bar { background: $panel; }"

    BINDINGS: ClassVar = named("sheet", [Binding("question_mark,f1", "help", "help")])

    title_of_keys = "This list"
    rows: Rows

    def compose(self) -> ComposeResult:
        yield Bar()
        yield self.rows
        yield KeyHints()

    def key_parts(self) -> Sequence[KeyPart]:
        """What answers to keys here."""
        return [KeyPart(self.title_of_keys, self), KeyPart("Rows", self.rows)]

    def hint(self, hints: Iterable[tuple[str, str]]) -> None:
        """Tell the keys at the bottom, and how to come to the others."""
        self.query_one(KeyHints).tell(
            tuple((key, text) for key, text in hints if key), (key_for(self, "help"), "help")
        )

    def action_help(self) -> None:
        from judge_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.key_parts()))

    def action_close(self) -> None:
        self.dismiss(None)
