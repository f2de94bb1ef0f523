"""A file of any size, drawn line by line: only what is in view, and a page around it in spare time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set

from rich.style import Style
from textual.cache import LRUCache
from textual.color import Color
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from judge_tui.tui.code.display_rows import DisplayRows
from judge_tui.tui.code.highlight import Highlight
from judge_tui.tui.code.search import Hit
from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import Symbol, enclosing
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.textual_private.drawing import line_filters
from judge_tui.tui.widgets.code_lines import Look, Mark, gutter_width, line_strip

__all__ = ["CodeCanvas"]

#: Seconds of drawing ahead between two looks at the keyboard; the pause between, and behind a key on its way.
_AHEAD_S = 0.0015
_PAUSE_S = 0.001
_YIELD_S = 0.004
_CURSOR, _SELECTED, _CONTINUED = 1, 2, 4


class CodeCanvas(ScrollView):
    """Draws one :class:`Source` with its colours, marks, hits, cursor and selection; no widget per line.

    Attributes:
        source: The file.
        symbols: Its definitions, once it is parsed.
        cursor: 0-based line of the cursor.
        selected_from: Line where a selection began.
        left: First column in view, where lines do not wrap.
        hits: Search hits.
        hit: Which of them was gone to last.
        wrapped: Whether long lines go on in the next row.
        whitespace: Whether tabs and trailing blanks are shown.
        folds: First line of each closed fold → its last line.
        rows: Which line each row shows.
    """

    DEFAULT_CSS = """
    CodeCanvas {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: scroll;
        scrollbar-size: 0 0; background: $background;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.source = Source(b"")
        self.symbols: tuple[Symbol, ...] = ()
        self.cursor = 0
        self.selected_from: int | None = None
        self.left = 0
        self.hits: Sequence[Hit] = ()
        self.hit: int | None = None
        self.wrapped = False
        self.whitespace = False
        self.folds: dict[int, int] = {}
        self.rows = DisplayRows(1)
        self._hits_of: dict[int, list[Hit]] = {}
        self._highlight = Highlight(None)
        self._marks: Mapping[int, Mark] = {}
        self._flags: frozenset[int] = frozenset()
        self._syntax: Sequence[Style] = ()
        self._strips: LRUCache[tuple[int, int, int, int], Strip] = LRUCache(1024)
        # rows that were drawn so far, and not found among those
        self._drawn = 0
        self._look: Look | None = None
        self._ground = Color(0, 0, 0)
        self._drawing_ahead = False

    # what is shown

    def _take(self, source: Source, line: int) -> None:
        """Take another file, plain until :meth:`color` brings its highlight."""
        self.source = source
        self._highlight, self.symbols = Highlight(None), ()
        self.hits, self._hits_of, self._marks, self._flags = (), {}, {}, frozenset()
        self.hit = None
        self.selected_from, self.left, self.folds = None, 0, {}
        self.cursor = min(max(line, 0), len(source) - 1)
        self._lay_out()

    def color(self, highlight: Highlight, syntax: Sequence[Style]) -> None:
        """Take the highlight of the file that is shown."""
        self._highlight, self.symbols, self._syntax = highlight, highlight.symbols, syntax
        self._redraw()

    @property
    def highlight(self) -> Highlight:
        """The syntax of the file that is shown."""
        return self._highlight

    def mark(self, marks: Mapping[int, Mark]) -> None:
        """Show marks beside lines (0-based)."""
        if marks != self._marks:
            self._marks = marks
            self._redraw()

    def flag(self, lines: Iterable[int]) -> None:
        """Show a bookmark beside lines (0-based)."""
        flags = frozenset(lines)
        if flags != self._flags:
            self._flags = flags
            self._redraw()

    def search(self, hits: Sequence[Hit]) -> None:
        """Light up search hits, in order."""
        before = self._hits_of
        self.hits, self.hit = hits, None
        self._hits_of = {}
        for hit in hits:
            self._hits_of.setdefault(hit.line, []).append(hit)
        self._redraw_lines(before.keys() | self._hits_of.keys())

    @property
    def selection(self) -> tuple[int, int]:
        """First and last selected line, 0-based; the cursor's line when nothing is selected."""
        anchor = self.cursor if self.selected_from is None else self.selected_from
        return min(anchor, self.cursor), max(anchor, self.cursor)

    def symbol_at(self, line: int) -> Symbol | None:
        """The innermost definition that holds a line."""
        innermost = next(enclosing(self.symbols, line), None)
        return None if innermost is None else self.symbols[innermost]

    @property
    def all_symbols(self) -> bool:
        """Whether all definitions of the file are known, or the first ones of very many."""
        syntax = self._highlight.syntax
        return syntax is None or syntax.complete

    @property
    def symbols_title(self) -> str:
        """What a list of the definitions is called."""
        return "symbols" if self.all_symbols else f"first {len(self.symbols):,} symbols"

    # rows

    @property
    def room(self) -> int:
        """Columns of code in view."""
        return max(self.size.width - gutter_width(len(self.source)), 1)

    @property
    def height(self) -> int:
        """Rows in view."""
        return max(self.size.height, 1)

    def _lay_out(self) -> None:
        """Find anew which line each row shows."""
        room = self.room if self.wrapped and self.size.width else 0
        self.rows = DisplayRows(len(self.source), self.folds, self.source.widths if room else (), room)
        self.virtual_size = Size(0, len(self.rows))
        self._redraw()

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
        width = self.size.width
        selection = self.selection
        top = self.scroll_offset.y
        strips = [self._strip(top + y, width, selection) for y in crop.line_range]
        if crop.x or crop.right < width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        return self._strip(self.scroll_offset.y + y, self.size.width, self.selection)

    def _strip(self, row: int, width: int, selection: tuple[int, int] | None) -> Strip:
        line, column = self.rows.at(row)
        state = _CONTINUED if column else 0
        if selection is not None:
            state |= _CURSOR if line == self.cursor else 0
            state |= (
                _SELECTED if self.selected_from is not None and selection[0] <= line <= selection[1] else 0
            )
        key = (line, column or self.left, width, state)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._draw(line, column or self.left, width, state)
            for line_filter in line_filters(self.app):
                strip = strip.apply_filter(line_filter, self._ground)
            self._strips[key] = strip
            self._drawn += 1
        return strip

    def _draw(self, line: int, left: int, width: int, state: int) -> Strip:
        if line >= len(self.source):
            return Strip([], 0).extend_cell_length(width, self.look.base)
        last = self.folds.get(line, line)
        marks = (self._marks[n] for n in range(line, last + 1) if n in self._marks)
        flagged = bool(self._flags) and any(n in self._flags for n in range(line, last + 1))
        return line_strip(
            self.source,
            line,
            left=left,
            width=width,
            look=self.look,
            highlighter=self._highlight.highlighter,
            hits=self._hits_of.get(line, ()),
            mark=next(marks, None),
            cursor=bool(state & _CURSOR),
            selected=bool(state & _SELECTED),
            wrapped=self.wrapped,
            continued=bool(state & _CONTINUED),
            folded=last - line,
            flagged=flagged,
            whitespace=self.whitespace,
        )

    def _redraw(self) -> None:
        self._strips.clear()
        self._look = None
        self.refresh()

    def _redraw_lines(self, lines: Set[int]) -> None:
        """Draw some lines anew, as far as they are in view."""
        for key in [key for key in tuple(self._strips.keys()) if key[0] in lines]:
            self._strips.discard(key)
        top = self.scroll_offset.y
        if any(self.rows.at(row)[0] in lines for row in range(top, top + self.height)):
            self.refresh()

    def _draw_ahead(self) -> None:
        """Draw the rows a page below and above the view while nothing else is to do."""
        self._drawing_ahead = False
        if isinstance(self.app, TypeAhead) and self.app.typing:
            # a key is on its way, and each slice would delay what it sets off
            self._draw_ahead_later()
            return
        top, height, width = self.scroll_offset.y, self.height, self.size.width
        last = len(self.rows)
        end = time.perf_counter() + _AHEAD_S
        for row in (*range(top + height, min(top + 2 * height, last)), *range(max(top - height, 0), top)):
            before = self._drawn
            self._strip(row, width, None)
            if self._drawn > before and time.perf_counter() > end:
                self._draw_ahead_later(_PAUSE_S)
                return

    def _draw_ahead_later(self, pause_s: float = _YIELD_S) -> None:
        if not self._drawing_ahead:
            self._drawing_ahead = True
            # not right behind a frame: what is drawn ahead would hold up the thread that writes it
            self.set_timer(pause_s, self._draw_ahead)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._look = None

    def on_focus(self) -> None:
        self._redraw()

    def on_blur(self) -> None:
        self._redraw()
