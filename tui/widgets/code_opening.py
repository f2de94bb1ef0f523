"""Where a file stands that was just opened and that nobody has moved in yet."""

from __future__ import annotations

from judge_tui.tui.code.first_file import first_definition
from judge_tui.tui.widgets.code_view import CodeView

__all__ = ["CodeOpening"]

#: Rows that are seen above the first definition.
_ROWS_ABOVE = 1


class CodeOpening:
    """Shows the first definition of a file that is opened without a place.

    It is found again once more is known, of the view's height or of the outline; a reader who has moved
    meanwhile stays where they are.

    Args:
        view: Where the file is shown.
    """

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._file = ""
        self._left: tuple[object, int, int] | None = None

    def begin(self, file: str) -> None:
        """A file came into view without a place of its own."""
        self._file = file
        self._leave()
        self.again()

    def end(self) -> None:
        """The file in view has a place of its own."""
        self._left = None

    @property
    def untouched(self) -> bool:
        """Whether the file stands as it was opened."""
        return self._left is not None and self._left == self._here

    @property
    def _here(self) -> tuple[object, int, int]:
        return self._view.source, self._view.cursor, self._view.scroll_offset.y

    def _leave(self) -> None:
        self._left = self._here

    def again(self) -> None:
        """Show the first definition, as far as it is known now."""
        view = self._view
        if not self.untouched or not view.size.height:
            return
        found = first_definition(view.source.lines, view.symbols, self._file)
        # what the first page shows is read from its beginning
        if found is not None and found[1] > view.height // 2:
            self.place(found[0], found[0] - found[1] + _ROWS_ABOVE)

    def place(self, line: int, row: int) -> None:
        """Show a line (0-based) on a row, as where another pane stands."""
        self._view.align(line, row)
        self._leave()
