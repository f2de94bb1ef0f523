"""The editor for comments, reasons and summaries: what is typed is kept as it is typed."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TextArea

from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.screens.dialog import Editor
from judge_tui.tui.textual_private.prose_area import ProseArea

__all__ = ["TextEditor"]


class TextEditor(Editor):
    """One text; every change of it is told at once, so that closing cannot lose it.

    Args:
        title: What is edited.
        text: Its present state.
        changed: Told each new state.
    """

    def __init__(self, title: str, text: str, changed: Callable[[str], None]) -> None:
        super().__init__()
        self._title, self._text, self._changed = title, text, changed

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._title)
            yield ProseArea(self._text)
            yield self.hint(f"{self.closes} · ctrl+z undoes typing")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        area.focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area.text != self._text:
            self._text = event.text_area.text
            self._changed(self._text)
