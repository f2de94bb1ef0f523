"""An editor for prose: it redraws the lines that a key has changed, and acts on no terminal.

Stands in for what ``TextArea`` is made of (its document, its navigator, its edits), all private: it draws the
whole text anew after each key.
"""

from __future__ import annotations

from typing import Any

from textual.document._document import EditResult
from textual.document._document_navigator import DocumentNavigator
from textual.document._edit import Edit
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import TextArea

from judge_tui.tui.textual_private.prose_document import ProseDocument

__all__ = ["ProseArea"]


class ProseArea(TextArea):
    """Text that wraps; tab leaves it. A letter costs as much in a long comment as in a short one.

    ``TextArea`` draws all of itself anew for each letter, reads its styles anew with every frame, and hands
    control characters on: here lines are drawn and measured as :class:`ProseDocument` shows them.

    Args:
        text: What it begins with.
    """

    _styled_by: object = None
    _held = False

    def __init__(self, text: str = "") -> None:
        super().__init__(text, soft_wrap=True, tab_behavior="focus")

    def notify_style_update(self) -> None:
        self._styled_by = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._theme is None or self._styled_by is not self._theme:
            self._styled_by = self._theme
            return super().render_lines(crop)
        return ScrollView.render_lines(self, crop)

    def edit(self, edit: Edit) -> EditResult:
        row, before = edit.top[0], self._around()
        self._held = True
        try:
            result = super().edit(edit)
        finally:
            self._held = False
        alone = edit.bottom[0] == result.end_location[0] == row
        if alone and before == self._around():
            lines = len(self.wrapped_document.get_offsets(row)) + 1
            self.refresh_lines(self.wrapped_document.location_to_offset((row, 0)).y, lines)
        else:
            self.refresh()
        return result

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Any:
        if self._held and repaint and not (regions or layout or recompose):
            # told more narrowly once the edit is done
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def _set_document(self, text: str, language: str | None) -> None:
        self._highlight_query = None
        self.document = ProseDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._build_highlight_map()
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def _render_line(self, y: int) -> Strip:
        strip = super()._render_line(y)
        if strip.text.isascii():
            return strip
        # a cursor within joined emoji makes them as wide as they are apart
        return Strip(list(strip)).adjust_cell_length(self.scrollable_content_region.width, self.rich_style)

    def _around(self) -> tuple[set[int], int, int, bool]:
        """Rows that the cursor shows on, height of the text, where it is scrolled to, whether it is empty."""
        rows = {self.selection.start[0], self.selection.end[0]}
        if self._matching_bracket_location is not None:
            rows.add(self._matching_bracket_location[0])
        return rows, self.wrapped_document.height, self.scroll_offset.y, not self.text
