"""The code view: a file of any size, moved through with vim's keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.message import Message

from judge_tui.tui.code.folds import fold_at
from judge_tui.tui.code.source import Source
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.widgets.code_hits import CodeHits
from judge_tui.tui.widgets.counted import Counted

if TYPE_CHECKING:
    from judge_tui.tui.code.line_map import LineMap

__all__ = ["CodeView"]

_HIDDEN = partial(Binding, show=False)
#: No line is that wide.
_END = 1 << 60
#: Characters; a clipboard is reached through the terminal, which reads each of them.
_MOST_COPIED = 1_000_000


class CodeView(Counted, CodeHits, can_focus=True):
    """A cursor, a selection and folds in one file.

    Args:
        moved: Called when cursor, selection or view moved.
        scrolled: Called with the view and its first visible line when that changed.
        leaving: Called with the cursor's line before a jump goes away from it.
        id: Name of the widget.
    """

    BINDINGS: ClassVar = [
        _HIDDEN("j,down", "move(1)", "line down"),
        _HIDDEN("k,up", "move(-1)", "line up"),
        _HIDDEN("ctrl+d", "page(0.5)", "half a page down"),
        _HIDDEN("ctrl+u", "page(-0.5)", "half a page up"),
        _HIDDEN("pagedown,ctrl+f,space", "page(1)", "page down"),
        _HIDDEN("pageup", "page(-1)", "page up"),
        _HIDDEN("ctrl+e", "scroll(1)", "scroll a line down"),
        _HIDDEN("ctrl+y", "scroll(-1)", "scroll a line up"),
        _HIDDEN("g,home", "edge(0)", "first line"),
        _HIDDEN("G,end", "edge(1)", "last line"),
        _HIDDEN("h,left", "slide(-8)", "scroll left"),
        _HIDDEN("l,right", "slide(8)", "scroll right"),
        _HIDDEN("0", "slide_edge(0)", "start of the line"),
        _HIDDEN("dollar_sign", "slide_edge(1)", "end of the line"),
        Binding("v", "select", "select lines"),
        _HIDDEN("shift+down,J", "extend(1)", "select downwards"),
        _HIDDEN("shift+up,K", "extend(-1)", "select upwards"),
        _HIDDEN("minus", "fold", "fold or unfold"),
        _HIDDEN("underscore", "fold_all", "fold or unfold all functions"),
        _HIDDEN("w", "wrap", "wrap long lines"),
        _HIDDEN("i", "whitespace", "show tabs and trailing blanks"),
        _HIDDEN("Y", "copy", "copy the lines"),
        _HIDDEN("n", "hit(1)", "next match"),
        _HIDDEN("N", "hit(-1)", "previous match"),
        _HIDDEN("right_square_bracket", "symbol(1)", "next function"),
        _HIDDEN("left_square_bracket", "symbol(-1)", "previous function"),
        _HIDDEN("right_curly_bracket", "mark(1)", "next note or finding"),
        _HIDDEN("left_curly_bracket", "mark(-1)", "previous note or finding"),
        _HIDDEN("right_parenthesis", "screen.note_step(1)", "next note, in any file"),
        _HIDDEN("left_parenthesis", "screen.note_step(-1)", "previous note, in any file"),
        _HIDDEN("e", "screen.finding_step(1)", "next finding, in any file"),
        _HIDDEN("E", "screen.finding_step(-1)", "previous finding, in any file"),
        _HIDDEN("enter", "open_mark", "open the note or finding of this line"),
        _HIDDEN(
            "D,ctrl+right_square_bracket", "screen.definition", "to the definition of what this line uses"
        ),
        _HIDDEN("less_than_sign,ctrl+o", "screen.back_to", "back to where a jump came from"),
        _HIDDEN("greater_than_sign", "screen.forward_to", "forward again"),
        _HIDDEN("b", "screen.bookmark", "set a bookmark, or take it away"),
        _HIDDEN("p", "screen.bookmark_step(1)", "next bookmark, in any file"),
        _HIDDEN("P", "screen.bookmark_step(-1)", "previous bookmark, in any file"),
        _HIDDEN("apostrophe", "screen.bookmarks", "list of the bookmarks"),
        _HIDDEN("colon", "screen.line", "go to a line by its number"),
        _HIDDEN("escape", "clear", "drop selection and search"),
    ]

    BINDINGS = named("code", BINDINGS)
    AT_ONCE: ClassVar = frozenset({"move", "page", "scroll", "slide"})

    class MarkOpened(Message):
        """Enter was pressed on a marked line, or on a fold of lines that are; 0-based."""

        def __init__(self, view: CodeView, line: int, last: int) -> None:
            super().__init__()
            self.view, self.line, self.last = view, line, last

    class NoHit(Message):
        """A hit was asked for, so many further or, below 0, back; and there is none."""

        def __init__(self, view: CodeView, steps: int) -> None:
            super().__init__()
            self.view, self.steps = view, steps

    class SearchCleared(Message):
        """Escape was pressed while nothing was selected: a search is dropped, wherever it has hits."""

        def __init__(self, view: CodeView) -> None:
            super().__init__()
            self.view = view

    def __init__(
        self,
        *,
        moved: Callable[[], None] | None = None,
        scrolled: Callable[[CodeView, int], None] | None = None,
        leaving: Callable[[int], None] | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        # told by a call and not by a message: what follows belongs into the same frame
        self._moved = moved or (lambda: None)
        self.scrolled: Callable[[CodeView, int], None] = scrolled or (lambda view, line: None)
        self._leaving = leaving or (lambda line: None)

    def show(self, source: Source, *, line: int = 0) -> None:
        """Show another file, plain until :meth:`color` brings its highlight."""
        self._take(source, line)
        row = self.rows.row_of(self.cursor)
        self._scroll_to_row(max(row - self.height // 3, 0) if line else 0)
        self._moved()

    @contextmanager
    def place_kept(self, moved: LineMap) -> Iterator[None]:
        """Show a changed file within: scroll, selection, folds and columns stay with their lines."""
        above = self.rows.row_of(self.cursor) - self.scroll_offset.y
        anchor, left, folds, line = self.selected_from, self.left, self.folds, self.cursor
        yield
        self.selected_from = None if anchor is None else min(moved(anchor), len(self.source) - 1)
        self.left, self.folds = left, moved.folds(folds)
        self._lay_out()
        self.align(moved(line), above)

    # moving

    def go(self, line: int, *, centre: bool = False, extend: bool = False) -> None:
        """Put the cursor on a line (0-based) and bring it into view; a fold that hides it opens.

        Args:
            line: The line; out of range goes to the nearest.
            centre: Leave room above and below.
            extend: Select up to there.
        """
        before, self.cursor = self.cursor, min(max(line, 0), len(self.source) - 1)
        if centre and self.cursor != before:
            self._leaving(before)
        if self.rows.shown(self.cursor) != self.cursor:
            self.folds = {a: b for a, b in self.folds.items() if not a < self.cursor <= b}
            self._lay_out()
        if extend and self.selected_from is None:
            self.selected_from = before
        if self.selected_from is not None:
            self.refresh()
        else:
            self._refresh_line(before)
            self._refresh_line(self.cursor)
        self._reveal(centre=centre)
        self._moved()

    def drag_to(self, line: int) -> None:
        """Select up to a line that the mouse is dragged to; the view moves no more than it must."""
        if line != self.cursor:
            self.cursor = line
            self._reveal(margin=0)
        self.refresh()
        self._moved()

    def _refresh_line(self, line: int) -> None:
        first, last = self.rows.row_of(line), self.rows.row_of(line, _END)
        self.refresh_lines(first, min(last - first, self.height) + 1)

    def _reveal(self, *, centre: bool = False, margin: int = 3) -> None:
        top, height = self.scroll_offset.y, self.height
        row, last = self.rows.row_of(self.cursor), self.rows.row_of(self.cursor, _END)
        if last - row >= height // 2 and row < top + height and last >= top and not centre:
            # a line of many rows that is partly in view
            return
        margin = height // 3 if centre else min(margin, height // 4)
        if row < top + margin:
            target = row - margin
        elif row > top + height - 1 - margin:
            target = row - height + 1 + margin
        else:
            return
        if centre:
            target = row - margin
        self._scroll_to_row(min(max(target, 0), max(len(self.rows) - height, 0)))

    def _scroll_to_row(self, row: int) -> None:
        self.scroll_to(y=row, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        # without super(): moving a scrollbar that is not shown makes Textual arrange the whole screen anew
        if round(old_value) != round(new_value):
            self.refresh()
            self._draw_ahead_later()
            top, row = round(new_value), self.rows.row_of(self.cursor)
            kept = min(max(row, top), top + self.height - 1)
            if kept != row:
                self.cursor = min(self.rows.at(kept)[0], len(self.source) - 1)
                self._moved()
            self.scrolled(self, self.rows.at(top)[0])

    def on_resize(self) -> None:
        if self.wrapped:
            self._lay_out()
        self._reveal()

    def follow(self, line: int) -> None:
        """Scroll so that a line is the first in view, as far as the file goes."""
        target = min(self.rows.row_of(line), max(len(self.rows) - self.height, 0))
        if target != self.scroll_offset.y:
            self._scroll_to_row(target)

    def align(self, line: int, row: int) -> bool:
        """Put the cursor on a line, and that line on a row of the view, as far as the file goes.

        Returns:
            Whether most rows that come into view were not there.
        """
        before, self.cursor = self.cursor, self.rows.shown(min(max(line, 0), len(self.source) - 1))
        self._refresh_line(before)
        self._refresh_line(self.cursor)
        target = self.rows.row_of(self.cursor) - row
        target = min(max(target, 0), max(len(self.rows) - self.height, 0))
        leaps = 2 * abs(target - self.scroll_offset.y) > self.height
        self._scroll_to_row(target)
        self._moved()
        return leaps

    def action_move(self, lines: int) -> None:
        self.go(self.rows.after(self.cursor, lines * self.times))

    def action_page(self, pages: float) -> None:
        step = round(pages * max(self.height - 2, 1)) * self.times
        row = min(max(self.rows.row_of(self.cursor) + step, 0), len(self.rows) - 1)
        self._scroll_to_row(self.scroll_offset.y + step)
        if self.rows.row_of(self.cursor, _END) < row or step < 0:
            self.go(self.rows.at(row)[0])

    def action_scroll(self, rows: int) -> None:
        top = min(max(self.scroll_offset.y + rows * self.times, 0), max(len(self.rows) - self.height, 0))
        self._scroll_to_row(top)

    def action_edge(self, end: int) -> None:
        if self.count:
            self.go(self.count - 1, centre=True)
            return
        self._leaving(self.cursor)
        self.go(self.rows.shown(len(self.source) - 1) if end else 0)

    def action_slide(self, columns: int) -> None:
        self._slide_to(self.left + columns * self.times)

    def action_slide_edge(self, end: int) -> None:
        self._slide_to(self.source.line_width(self.cursor) - self.room + 1 if end else 0)

    def _slide_to(self, left: int) -> None:
        left = min(max(left, 0), max(self.source.width - self.room + 1, 0))
        if left != self.left and not self.wrapped:
            self.left = left
            self.refresh()
            self._moved()

    # rows, with folds and wrapping

    def action_fold(self) -> None:
        line = self.source.lines[self.cursor]
        syntax, column = self._highlight.syntax, len(line) - len(line.lstrip())
        fold = fold_at(syntax, self.cursor, column) if syntax is not None else None
        if self.cursor in self.folds:
            self._fold({first: last for first, last in self.folds.items() if first != self.cursor})
        elif fold is not None:
            self._fold(self.folds | dict([fold]))
        else:
            self.notify("Nothing to fold here.", markup=False, timeout=2)

    def action_fold_all(self) -> None:
        functions = {s.line: s.end for s in self.symbols if s.kind == "function" and s.end > s.line}
        self._fold({} if self.folds else functions)

    def _fold(self, folds: dict[int, int]) -> None:
        self.folds = folds
        self._keep_place()
        self.cursor = self.rows.shown(self.cursor)
        self._reveal()
        self._moved()

    def action_wrap(self) -> None:
        self.wrapped, self.left = not self.wrapped, 0
        self._keep_place()
        self._moved()

    def action_whitespace(self) -> None:
        self.whitespace = not self.whitespace
        self._redraw()

    def _keep_place(self) -> None:
        """Lay the rows out anew under a cursor that stays where it is on the screen."""
        above = self.rows.row_of(self.cursor) - self.scroll_offset.y
        self._lay_out()
        row = self.rows.row_of(self.cursor) - above
        self._scroll_to_row(min(max(row, 0), max(len(self.rows) - self.height, 0)))

    # selecting

    def action_select(self) -> None:
        self.selected_from = self.cursor if self.selected_from is None else None
        self.refresh()
        self._moved()

    def action_extend(self, lines: int) -> None:
        self.go(self.rows.after(self.cursor, lines * self.times), extend=True)

    def action_copy(self) -> None:
        first, last = self.selection
        lines = self.source.lines[first : last + 1]
        if sum(map(len, lines)) > _MOST_COPIED:
            self.notify("That is too much for a clipboard: over a million characters.", markup=False)
            return
        text = "".join(f"{line}\n" for line in lines)
        self.app.copy_to_clipboard(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        self.drop_selection()
        count = last - first + 1
        self.notify(f"{count} line{'s' if count > 1 else ''} copied", markup=False, timeout=2)

    def drop_selection(self) -> None:
        """Select nothing but the cursor's line."""
        self.selected_from = None
        self.refresh()
        self._moved()

    def action_clear(self) -> None:
        if self.selected_from is not None:
            self.drop_selection()
        else:
            # the hits may be in other panes, or nowhere
            self.post_message(self.SearchCleared(self))

    # jumping

    def action_hit(self, step: int) -> None:
        if self.hits:
            self.go_to_hit(step * self.times)
        else:
            self.post_message(self.NoHit(self, step * self.times))

    def action_symbol(self, step: int) -> None:
        self._step_to([symbol.line for symbol in self.symbols], step, "function")

    def action_mark(self, step: int) -> None:
        self._step_to([line for line, mark in self._marks.items() if mark.begins], step, "note or finding")

    def _step_to(self, lines: Sequence[int], step: int, what: str) -> None:
        after = [n for n in lines if n > self.cursor] if step > 0 else [n for n in lines if n < self.cursor]
        if after:
            at = min(self.times, len(after)) - 1
            self.go(sorted(after, reverse=step < 0)[at], centre=True)
        else:
            where = f"{'below' if step > 0 else 'above'} here" if lines else "in this file"
            self.notify(f"no {what} {where}", markup=False, timeout=2)

    def action_open_mark(self) -> None:
        last = self.folds.get(self.cursor, self.cursor)
        if any(line in self._marks for line in range(self.cursor, last + 1)):
            self.post_message(self.MarkOpened(self, self.cursor, last))
