"""Asks for a line by its number: ``120``, ``+10``, ``-10`` or ``$``."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Input, Static

from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.glyphs import neutral
from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.screens.dialog import Dialog
from judge_tui.tui.widgets.line_input import LineInput

__all__ = ["LinePrompt", "line_meant"]


def line_meant(text: str, here: int, last: int) -> int | None:
    """The 1-based line that is meant, within the file; ``None`` where it is none.

    Args:
        text: What was typed.
        here: The cursor's line, 1-based.
        last: The last line.
    """
    text = text.strip()
    if text == "$":
        return last
    if not text.lstrip("+-").isdecimal() or len(text) > 12:
        return None
    try:
        line = here + int(text) if text[0] in "+-" else int(text)
    except ValueError:
        return None
    return min(max(line, 1), last)


class LinePrompt(Dialog[int]):
    """Gives the 1-based line, or ``None``."""

    BINDINGS: ClassVar = [
        Binding("enter", "go", "go there", priority=True),
        Binding("escape", "close", "close", priority=True),
    ]

    BINDINGS = named("line", BINDINGS)

    def __init__(self, file: str, here: int, last: int) -> None:
        super().__init__()
        self._file, self._here, self._last = file, here, last

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(f"Line of {self._file}")
            yield LineInput(placeholder=f"1–{self._last}, +10, -10, $")
            yield Static(
                f"the cursor is on line {self._here} · {key_for(self, 'go')} goes there",
                classes="hint",
                markup=False,
            )

    def action_go(self) -> None:
        typed = self.query_one(Input).value.strip()
        line = line_meant(typed, self._here, self._last)
        if typed and line is None:
            leaves = key_for(self, "close")
            told = f"{neutral(typed[:20])} is no line: a number is wanted, +10, -10 or $ · {leaves} closes"
            self.query_one(Static).update(told)
        else:
            self.dismiss(line)

    def action_close(self) -> None:
        self.dismiss(None)
