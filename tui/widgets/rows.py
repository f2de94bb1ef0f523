"""A list of rows with a cursor, drawn line by line: the base of every list in the app."""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.glyphs import neutral
from judge_tui.tui.look.in_a_row import in_a_row
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.widgets.counted import Counted

__all__ = ["Rows", "Span"]

#: A piece of a row: text, and its style without a background.
Span = tuple[str, Style]


class Rows(Counted, ScrollView, can_focus=True):
    """Rows by key; :meth:`draw` says what stands in each."""

    DEFAULT_CSS = """
    Rows {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto;
        scrollbar-size: 0 1; background: $surface;
        scrollbar-color: $panel; scrollbar-background: $surface;
        scrollbar-color-hover: $secondary; scrollbar-background-hover: $surface;
        scrollbar-color-active: $secondary; scrollbar-background-active: $surface;
    }
    """

    BINDINGS: ClassVar = [
        Binding("j,down", "move(1)", "row down", show=False),
        Binding("k,up", "move(-1)", "row up", show=False),
        Binding("g,home", "edge(0)", "first row", show=False),
        Binding("G,end", "edge(1)", "last row", show=False),
        Binding("ctrl+d,pagedown", "page(1)", "page down", show=False),
        Binding("ctrl+u,pageup", "page(-1)", "page up", show=False),
        Binding("enter", "open", "open"),
    ]

    BINDINGS = named("lists", BINDINGS)

    class Opened(Message):
        """Enter was pressed on a row, or it was clicked twice."""

        def __init__(self, rows: Rows, key: Hashable) -> None:
            super().__init__()
            self.rows, self.key = rows, key

        @property
        def control(self) -> Rows:
            return self.rows

    class Pointed(Message):
        """The cursor came to another row."""

        def __init__(self, rows: Rows, key: Hashable) -> None:
            super().__init__()
            self.rows, self.key = rows, key

        @property
        def control(self) -> Rows:
            return self.rows

    #: Whether the cursor's row is shown as such.
    shows_cursor = True

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.keys: Sequence[Hashable] = ()
        self.cursor = 0
        self._placed = False

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        """What stands in a row, from the left; what does not fit is cut."""
        raise NotImplementedError

    @property
    def key(self) -> Hashable | None:
        """Key of the cursor's row."""
        return self.keys[self.cursor] if self.cursor < len(self.keys) else None

    def show(self, keys: Sequence[Hashable]) -> None:
        """Show other rows; a cursor that somebody has moved stays on its key, else in its place."""
        key = self.key
        self.keys = keys
        if self._placed and key in keys:
            self.cursor = list(keys).index(key)
        self.cursor = min(self.cursor, max(len(keys) - 1, 0))
        self.virtual_size = Size(0, len(keys))
        self._reveal()
        self.refresh()

    def redraw(self, keys: Container[Hashable]) -> None:
        """Draw some rows anew."""
        for row, key in enumerate(self.keys):
            if key in keys:
                self.refresh_line(row)

    def draw_below(self, line: int, width: int, tones: Tones) -> Sequence[Span]:
        """What stands below the last row, line by line."""
        return ()

    def render_line(self, y: int) -> Strip:
        tones = tones_of(self.app)
        width = self.scrollable_content_region.width
        row = self.scroll_offset.y + y
        base = tones.text + tones.raised
        if row < len(self.keys):
            drawn = self.draw(self.keys[row], width, tones)
        else:
            drawn = self.draw_below(row - len(self.keys), width, tones)
        if row == self.cursor and self.shows_cursor and self.keys:
            base += tones.pointed if self.has_focus else tones.pointed_blurred
        # what may not be shown is covered before a row is cut: half a name tells as much
        hide = getattr(self.app, "hide", str)
        spans = [(hide(text), style) for text, style in drawn]
        return in_a_row([Segment(neutral(text), base + style) for text, style in spans], width, base)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_resize(self) -> None:
        self._reveal()

    def go(self, row: int) -> None:
        """Put the cursor on a row, where it stays however rows come and go."""
        self._placed = True
        row, before = min(max(row, 0), max(len(self.keys) - 1, 0)), self.cursor
        if row != before and self.keys:
            self.cursor = row
            self.post_message(self.Pointed(self, self.keys[row]))
        self._reveal()
        # the others look as they did, or are drawn because the list was scrolled
        for line in (before, row):
            self.refresh_line(line)

    def _reveal(self) -> None:
        rows, top = max(self.scrollable_content_region.height, 1), self.scroll_offset.y
        if self.cursor < top or self.cursor >= top + rows:
            target = self.cursor if self.cursor < top else self.cursor - rows + 1
            self.scroll_to(y=target, animate=False, force=True)

    def action_move(self, rows: int) -> None:
        self.go(self.cursor + rows * self.times)

    def action_edge(self, end: int) -> None:
        last = len(self.keys) - 1 if end else 0
        self.go(self.count - 1 if self.count else last)

    def action_page(self, pages: int) -> None:
        rows = pages * self.times * max(self.scrollable_content_region.height - 1, 1)
        # the view first: the cursor keeps its place in it, and every press shows other rows
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)
        self.go(self.cursor + rows)

    def action_open(self) -> None:
        if self.key is not None:
            self.post_message(self.Opened(self, self.key))

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y
        if row < len(self.keys):
            again = row == self.cursor and event.chain > 1
            self.go(row)
            if again:
                self.action_open()
