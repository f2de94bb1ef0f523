"""The text behind an editor: kept to the character, and seen by whoever draws or measures as it is shown.

Stands in for ``document._document.Document``: ``TextArea`` takes no other, and shows a text as it is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from textual.document._document import Document, EditResult, Location

from judge_tui.tui.look.written import written

__all__ = ["ProseDocument"]


class ProseDocument(Document):
    """A text whose lines are told with a glyph for each character; the text itself is never changed by that.

    ``Document`` tells lines as they are, and makes newlines of U+2028 and others.

    Args:
        text: What it begins with.
    """

    def __init__(self, text: str) -> None:
        returns = text.count("\r\n")
        self._newline = "\r\n" if returns and returns == text.count("\n") else "\n"
        self._lines = text.split(self._newline)
        self._shown = _shown(self._lines)

    @property
    def lines(self) -> list[str]:
        return self._shown

    @overload
    def __getitem__(self, line_index: int) -> str: ...

    @overload
    def __getitem__(self, line_index: slice) -> list[str]: ...

    def __getitem__(self, line_index: int | slice) -> str | list[str]:
        return self._shown[line_index]

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        (top, first), (bottom, last) = sorted((start, end))
        replaced = self.get_text_range((top, first), (bottom, last))
        before, after = self._line(top)[:first], self._line(bottom)[last:]
        new = self._split(text)
        new[0] = before + new[0]
        reached = top + len(new) - 1, len(new[-1])
        new[-1] += after
        self._lines[top : bottom + 1] = new
        self._shown[top : bottom + 1] = _shown(new)
        return EditResult(reached, replaced)

    def _line(self, row: int) -> str:
        return self._lines[row] if row < len(self._lines) else ""

    def _split(self, text: str) -> list[str]:
        """Lines of a text that is put in; a bare newline ends a line too."""
        return (text if self._newline == "\n" else text.replace("\r\n", "\n")).split("\n")


def _shown(lines: Sequence[str]) -> list[str]:
    return [written(line, tabs=True) for line in lines]
