"""A line that is typed: nothing that stands in it acts on the terminal."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Input

from judge_tui.tui.look.written import written

__all__ = ["LineInput"]


class LineInput(Input):
    """``Input``, which hands control characters of its value on; what is shown has as many characters."""

    def validate_placeholder(self, placeholder: str) -> str:
        return written(placeholder)

    @property
    def _value(self) -> Text:
        return Text(written(self.value), no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        return self._value[:position].cell_len if position else 0

    def _cell_offset_to_index(self, offset: int) -> int:
        cells = offset + self.scroll_offset.x
        ends = (self._position_to_cell(at + 1) for at in range(len(self.value)))
        return next((at for at, end in enumerate(ends) if end > cells), len(self.value))
