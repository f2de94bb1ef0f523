"""The code view: a file of any size, drawn line by line, moved through with vim's keys."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from judge_tui.tui.highlight import Highlight
from judge_tui.tui.search import Hit
from judge_tui.tui.source import Source
from judge_tui.tui.symbols import Symbol
from judge_tui.tui.tones import tones_of
from judge_tui.tui.widgets.code_lines import Look, Mark, gutter_width, line_strip
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.cache import LRUCache
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

__all__ = ["CodeView"]

_HIDDEN = partial(Binding, show=False)

#: Seconds of drawing ahead between two looks at the keyboard, and the pause between.
_AHEAD_S = 0.0015
_PAUSE_S = 0.001


class CodeView(ScrollView, can_focus=True):
    """Shows one :class:`Source`; no widget per line, only lines in view are drawn.

    Args:
        moved: Called when cursor, selection or view moved.
        scrolled: Called with the view and its first visible line when that changed.
        id: Name of the widget.
    """

    DEFAULT_CSS = """
    CodeView {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: scroll;
        scrollbar-size: 0 0; background: $background;
    }
    """

    BINDINGS: ClassVar = [
        _HIDDEN("j,down", "move(1)", "line down"),
        _HIDDEN("k,up", "move(-1)", "line up"),
        _HIDDEN("ctrl+d", "page(0.5)", "half a page down"),
        _HIDDEN("ctrl+u", "page(-0.5)", "half a page up"),
        _HIDDEN("pagedown,ctrl+f,space", "page(1)", "page down"),
        _HIDDEN("pageup", "page(-1)", "page up"),
        _HIDDEN("g,home", "edge(0)", "first line"),
        _HIDDEN("G,end", "edge(1)", "last line"),
        _HIDDEN("h,left", "slide(-8)", "scroll left"),
        _HIDDEN("l,right", "slide(8)", "scroll right"),
        _HIDDEN("0", "slide_edge(0)", "start of the line"),
        _HIDDEN("dollar_sign", "slide_edge(1)", "end of the line"),
        Binding("v", "select", "select lines"),
        _HIDDEN("shift+down,J", "extend(1)", "select downwards"),
        _HIDDEN("shift+up,K", "extend(-1)", "select upwards"),
        _HIDDEN("n", "hit(1)", "next match"),
        _HIDDEN("N", "hit(-1)", "previous match"),
        _HIDDEN("right_square_bracket", "symbol(1)", "next function"),
        _HIDDEN("left_square_bracket", "symbol(-1)", "previous function"),
        _HIDDEN("right_curly_bracket", "mark(1)", "next note or finding"),
        _HIDDEN("left_curly_bracket", "mark(-1)", "previous note or finding"),
        _HIDDEN("enter", "open_mark", "open the note or finding of this line"),
        _HIDDEN("escape", "clear", "drop selection and search"),
    ]

    @dataclass
    class MarkOpened(Message):
        """Enter was pressed on a marked line."""

        view: CodeView
        line: int

    @dataclass
    class SearchCleared(Message):
        """Escape was pressed while hits were shown."""

        view: CodeView

    def __init__(
        self,
        *,
        moved: Callable[[], None] | None = None,
        scrolled: Callable[[CodeView, int], None] | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        # told by a call and not by a message: what follows belongs into the same frame
        self._moved = moved or (lambda: None)
        self.scrolled: Callable[[CodeView, int], None] = scrolled or (lambda view, line: None)
        self.source = Source(b"")
        self.symbols: tuple[Symbol, ...] = ()
        self.cursor = 0
        self.anchor: int | None = None
        self.left = 0
        self.hits: Sequence[Hit] = ()
        self._hits_of: dict[int, list[Hit]] = {}
        self._highlight = Highlight(None)
        self._marks: Mapping[int, Mark] = {}
        self._syntax: Sequence[Style] = ()
        self._strips: LRUCache[tuple[int, int, int, int], Strip] = LRUCache(4096)
        self._look: Look | None = None
        self._ground = Color(0, 0, 0)
        self._drawing_ahead = False

    # what is shown

    def show(self, source: Source, *, line: int = 0) -> None:
        """Show another file, plain until :meth:`color` brings its highlight."""
        self.source = source
        self._highlight, self.symbols = Highlight(None), ()
        self.hits, self._hits_of, self._marks = (), {}, {}
        self.anchor, self.left = None, 0
        self.cursor = min(max(line, 0), len(source) - 1)
        self._redraw()
        self.virtual_size = Size(0, len(source))
        self.scroll_to(y=max(self.cursor - self._rows // 3, 0) if line else 0, animate=False, force=True)
        self._moved()

    def color(self, highlight: Highlight, syntax: Sequence[Style]) -> None:
        """Take the highlight of the file that is shown."""
        self._highlight, self.symbols, self._syntax = highlight, highlight.symbols, syntax
        self._redraw()

    def mark(self, marks: Mapping[int, Mark]) -> None:
        """Show marks beside lines (0-based)."""
        if marks != self._marks:
            self._marks = marks
            self._redraw()

    def search(self, hits: Sequence[Hit]) -> None:
        """Light up search hits, in order."""
        self.hits = hits
        self._hits_of = {}
        for hit in hits:
            self._hits_of.setdefault(hit.line, []).append(hit)
        self._redraw()

    @property
    def selection(self) -> tuple[int, int]:
        """First and last selected line, 0-based; the cursor's line when nothing is selected."""
        anchor = self.cursor if self.anchor is None else self.anchor
        return min(anchor, self.cursor), max(anchor, self.cursor)

    def symbol_at(self, line: int) -> Symbol | None:
        """The innermost definition that holds a line."""
        holding = [s for s in self.symbols if s.line <= line <= s.end]
        return max(holding, key=lambda s: (s.depth, s.line), default=None)

    # drawing

    @property
    def look(self) -> Look:
        """Styles under the present theme and focus."""
        if self._look is None:
            tones = tones_of(self.app)
            base = tones.text + tones.ground
            self._ground = self.background_colors[1]
            self._look = Look(
                base=base,
                gutter=tones.faint,
                cursor=tones.cursor if self.has_focus else tones.cursor_blurred,
                cursor_gutter=tones.by_name["primary"] if self.has_focus else tones.muted,
                selected=tones.selected,
                hit=tones.hit,
                control=tones.by_name["secondary"],
                alert=tones.alert,
                marks=tones.by_name,
                syntax=self._syntax,
            )
        return self._look

    def render_lines(self, crop: Region) -> list[Strip]:
        # straight from our own cache: the general way through styles costs as much as drawing
        size = self.size
        first, last = self.selection
        top = self.scroll_offset.y
        strips = [self._strip(top + y, size.width, first, last) for y in crop.line_range]
        if crop.x or crop.right < size.width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        return self._strip(self.scroll_offset.y + y, self.size.width, *self.selection)

    def _strip(self, line: int, width: int, first: int, last: int) -> Strip:
        state = (line == self.cursor) | (self.anchor is not None and first <= line <= last) << 1
        key = (line, self.left, width, state)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._draw(line, width, state)
            for line_filter in self.app._filters:
                strip = strip.apply_filter(line_filter, self._ground)
            self._strips[key] = strip
        return strip

    def _draw(self, line: int, width: int, state: int) -> Strip:
        if line >= len(self.source):
            return Strip([], 0).extend_cell_length(width, self.look.base)
        return line_strip(
            self.source,
            line,
            left=self.left,
            width=width,
            look=self.look,
            highlighter=self._highlight.highlighter,
            hits=self._hits_of.get(line, ()),
            mark=self._marks.get(line),
            cursor=bool(state & 1),
            selected=bool(state & 2),
        )

    def _redraw(self) -> None:
        self._strips.clear()
        self._look = None
        self.refresh()

    def _draw_ahead(self) -> None:
        """Draw the lines a page below and above the view while nothing else is to do."""
        self._drawing_ahead = False
        top, rows, width = self.scroll_offset.y, self._rows, self.size.width
        last = len(self.source)
        end = time.perf_counter() + _AHEAD_S
        for line in (*range(top + rows, min(top + 2 * rows, last)), *range(max(top - rows, 0), top)):
            if (line, self.left, width, 0) not in self._strips:
                self._strip(line, width, -1, -1)
                if time.perf_counter() > end:
                    self._drawing_ahead = True
                    self.set_timer(_PAUSE_S, self._draw_ahead)
                    return

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._look = None

    def on_focus(self) -> None:
        self._redraw()

    def on_blur(self) -> None:
        self._redraw()

    def on_resize(self) -> None:
        self._reveal()

    # moving

    @property
    def _rows(self) -> int:
        return max(self.size.height, 1)

    def go(self, line: int, *, centre: bool = False, extend: bool = False) -> None:
        """Put the cursor on a line (0-based) and bring it into view.

        Args:
            line: The line; out of range goes to the nearest.
            centre: Leave room above and below.
            extend: Select up to there.
        """
        before, self.cursor = self.cursor, min(max(line, 0), len(self.source) - 1)
        if extend and self.anchor is None:
            self.anchor = before
        if self.anchor is not None:
            self.refresh()
        else:
            self.refresh_lines(before)
            self.refresh_lines(self.cursor)
        self._reveal(centre=centre)
        self._moved()

    def _reveal(self, *, centre: bool = False) -> None:
        top, rows = self.scroll_offset.y, self._rows
        margin = rows // 3 if centre else min(3, rows // 4)
        if self.cursor < top + margin:
            target = self.cursor - margin
        elif self.cursor > top + rows - 1 - margin:
            target = self.cursor - rows + 1 + margin
        else:
            return
        if centre:
            target = self.cursor - margin
        self.scroll_to(y=min(max(target, 0), max(len(self.source) - rows, 0)), animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        # without super(): moving a scrollbar that is not shown makes Textual arrange the whole screen anew
        if round(old_value) != round(new_value):
            self.refresh()
            if not self._drawing_ahead:
                self._drawing_ahead = True
                self.call_after_refresh(self._draw_ahead)
            top, rows = round(new_value), self._rows
            kept = min(max(self.cursor, top), top + rows - 1)
            if kept != self.cursor:
                self.cursor = min(kept, len(self.source) - 1)
                self._moved()
            self.scrolled(self, top)

    def follow(self, line: int) -> None:
        """Scroll so that a line is the first in view, as far as the file goes."""
        target = min(line, max(len(self.source) - self._rows, 0))
        if target != self.scroll_offset.y:
            self.scroll_to(y=target, animate=False, force=True)

    def action_move(self, lines: int) -> None:
        self.go(self.cursor + lines)

    def action_page(self, pages: float) -> None:
        step = round(pages * max(self._rows - 2, 1))
        self.scroll_to(y=self.scroll_offset.y + step, animate=False, force=True)
        self.go(self.cursor + step)

    def action_edge(self, end: int) -> None:
        self.go(len(self.source) - 1 if end else 0)

    def action_slide(self, columns: int) -> None:
        self._slide_to(self.left + columns)

    def action_slide_edge(self, end: int) -> None:
        room = self.size.width - gutter_width(len(self.source))
        self._slide_to(self.source.line_width(self.cursor) - room + 1 if end else 0)

    def _slide_to(self, left: int) -> None:
        room = self.size.width - gutter_width(len(self.source))
        left = min(max(left, 0), max(self.source.width - room + 1, 0))
        if left != self.left:
            self.left = left
            self.refresh()
            self._moved()

    # selecting

    def action_select(self) -> None:
        self.anchor = self.cursor if self.anchor is None else None
        self.refresh()
        self._moved()

    def action_extend(self, lines: int) -> None:
        self.go(self.cursor + lines, extend=True)

    def drop_selection(self) -> None:
        """Select nothing but the cursor's line."""
        self.anchor = None
        self.refresh()
        self._moved()

    def action_clear(self) -> None:
        if self.anchor is not None:
            self.drop_selection()
        elif self.hits:
            self.post_message(self.SearchCleared(self))

    def on_click(self, event: events.Click) -> None:
        self.go(self.scroll_offset.y + event.y, extend=event.shift)

    def on_mouse_scroll_right(self) -> None:
        self.action_slide(8)

    def on_mouse_scroll_left(self) -> None:
        self.action_slide(-8)

    # jumping

    def action_hit(self, step: int) -> None:
        """Go to the next or previous search hit, round the end."""
        if not self.hits:
            return
        lines = [hit.line for hit in self.hits]
        at = bisect_left(lines, self.cursor + (1 if step > 0 else 0))
        hit = self.hits[at % len(lines) if step > 0 else at - 1]
        self.go(hit.line, centre=True)
        self.reveal_columns(hit)

    def reveal_columns(self, hit: Hit) -> None:
        """Scroll sideways so that a hit is in view."""
        room = self.size.width - gutter_width(len(self.source))
        start, end = self.source.cell_of(hit.line, hit.start), self.source.cell_of(hit.line, hit.end)
        if start < self.left or end > self.left + room:
            self._slide_to(0 if end <= room else max(start - room // 3, 0))

    def action_symbol(self, step: int) -> None:
        self._step_to([symbol.line for symbol in self.symbols], step)

    def action_mark(self, step: int) -> None:
        self._step_to(sorted(self._marks), step)

    def _step_to(self, lines: Sequence[int], step: int) -> None:
        after = [n for n in lines if n > self.cursor] if step > 0 else [n for n in lines if n < self.cursor]
        if after:
            self.go(min(after) if step > 0 else max(after), centre=True)

    def action_open_mark(self) -> None:
        if self.cursor in self._marks:
            self.post_message(self.MarkOpened(self, self.cursor))
