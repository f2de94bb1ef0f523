"""The document model of the code view: bytes of any kind as lines of cells.

Nothing here knows Textual. Work is done for what is looked at: a line is laid out in
chunks of :data:`CHUNK` characters, so that a line of ten million is as quick as a short one.
"""

from __future__ import annotations

import re
import time
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import sub as minus

from msgspec import Struct

from judge_tui.checks.lines import unified
from judge_tui.tui.code.text_lines import TextLines
from judge_tui.tui.look.glyphs import ALERT, PLAIN, TAB, glyph_of, is_plain, is_plain_text, spell

__all__ = ["CHUNK", "Chunk", "Source", "Window"]

_LONE_CR = re.compile(r"\r(?!\n)")
#: Characters that are laid out at once.
CHUNK = 2048
#: Marks that may stack on one character; more are spelled out.
_MAX_MARKS = 3
_CACHED_CHUNKS = 512


class Chunk(Struct, frozen=True):
    """A stretch of one line, laid out.

    Attributes:
        char: Index of its first character in the line.
        cell: Column where it begins.
        cells: Columns that it takes.
        glyphs: What stands for each character; one cell each when ``starts`` is ``None``.
        starts: Column of each character, relative to ``cell``, one more at the end.
        kinds: Kind of each glyph; ``None`` when all are plain.
    """

    char: int
    cell: int
    cells: int
    glyphs: str | list[str]
    starts: Sequence[int] | None = None
    kinds: bytes | None = None


class Window(Struct, frozen=True):
    """The part of a line that is in view.

    Attributes:
        char: Index of the first character in it.
        glyphs: What stands for each character.
        kinds: Kind of each glyph, if any is not plain.
        lead: Columns of the first glyph that are out of view at the left.
        cells: Columns that the glyphs take, ``lead`` included.
    """

    char: int
    glyphs: list[str] | str
    kinds: bytes | None
    lead: int
    cells: int


class Source:
    """One file as the code view shows it.

    Args:
        data: Its bytes; what is not UTF-8 is kept and shown as such.
        budget_s: Seconds that measuring may take now; :meth:`measure` does the rest.
        hide: Covers what may not be shown, each character by another one.

    Attributes:
        lines: Text of each line, without its end.
        text: The whole text, a line feed between lines.
        crlf: Whether lines end in carriage return and line feed.
        lone_cr: Whether lines end in a carriage return alone.
        width: Columns of the widest line measured so far.
        invalid: Bytes that are not UTF-8.
    """

    def __init__(
        self, data: bytes, *, budget_s: float = 0.02, hide: Callable[[str], str] | None = None
    ) -> None:
        text = data.decode("utf-8", "surrogateescape")
        self.invalid = 0 if text.isascii() else sum(0xDC80 <= ord(c) <= 0xDCFF for c in text[:1_000_000])
        self.crlf = "\r\n" in text[:100_000]
        self.lone_cr = _LONE_CR.search(text) is not None
        text = unified(text)
        shown = hide(text) if hide is not None else text
        self._bare = None if shown == text else Source(data, budget_s=0.0)
        self.text = text = shown
        self.lines = TextLines(text)
        self._chunks: OrderedDict[tuple[int, int], Chunk] = OrderedDict()
        #: Where the chunks of a line begin, as far as they are laid out; only of lines of several chunks.
        self._columns: dict[int, list[int]] = {}
        # most files are made of characters of one cell: such a line is as wide as it is long
        self._plain = is_plain_text(text)
        self.width = max(map(minus, self.lines.starts[1:], self.lines.starts)) - 1 if self._plain else 0
        self._next_line = len(self.lines) if self._plain else 0
        self._widths = array("I")
        self.measure(budget_s)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def bare(self) -> Source:
        """The file as it is: the source itself when nothing is hidden."""
        return self if self._bare is None else self._bare

    @property
    def measured(self) -> bool:
        """Whether :attr:`width` counts every line."""
        return self._next_line >= len(self.lines)

    def measure(self, budget_s: float) -> bool:
        """Measure on for a while; ``True`` when all is measured."""
        end = time.perf_counter() + budget_s
        while self._next_line < len(self.lines):
            if not self._measure_line(self._next_line, end):
                return False
            width = self.line_width(self._next_line)
            self.width = max(self.width, width)
            self._widths.append(width)
            self._next_line += 1
            if not self._next_line & 0xFF and time.perf_counter() > end:
                return self.measured
        return True

    def _measure_line(self, number: int, end: float) -> bool:
        if self._chunk_count(number) == 1:
            return True
        for index in range(len(self._columns.get(number, ())), self._chunk_count(number)):
            chunk = self._chunk(number, index)
            self.width = max(self.width, chunk.cell + chunk.cells)
            if time.perf_counter() > end and index + 1 < self._chunk_count(number):
                return False
        return True

    @property
    def widths(self) -> Sequence[int]:
        """Columns of every line; characters where it is not measured yet."""
        first = len(self._widths)
        starts = self.lines.starts
        return self._widths + array("I", (b - a - 1 for a, b in pairwise(starts[first:])))

    def line_width(self, number: int) -> int:
        """Columns of a line, as far as it has been laid out."""
        length = self.lines.length(number)
        if self._plain:
            return length
        if length <= CHUNK:
            line = self.lines[number]
            if is_plain(line):
                return length
            if is_plain(line.replace("\t", "")):
                return len(line.expandtabs(TAB))
        known = len(self._columns.get(number, ()))
        chunk = self._chunk(number, min(self._chunk_count(number) - 1, max(known - 1, 0)))
        return chunk.cell + chunk.cells

    def cell_of(self, number: int, char: int) -> int:
        """Column at which a character of a line begins."""
        length = self.lines.length(number)
        char = min(max(char, 0), length)
        if self._plain or (length <= CHUNK and is_plain(self.lines[number])):
            return char
        chunk = self._chunk(number, min(char // CHUNK, self._chunk_count(number) - 1))
        inside = char - chunk.char
        return chunk.cell + (inside if chunk.starts is None else chunk.starts[inside])

    def window(self, number: int, x: int, width: int) -> Window:
        """What of a line is in view between two columns.

        Args:
            number: 0-based line.
            x: First column.
            width: Columns in view.
        """
        if self._plain or (self.lines.length(number) <= CHUNK and is_plain(self.lines[number])):
            glyphs = self.lines.part(number, x, x + width)
            return Window(x, glyphs, None, 0, len(glyphs))
        index = self._chunk_at(number, x)
        chunk = self._chunk(number, index)
        first = self._char_at(chunk, x)
        glyphs_: list[str] = []
        kinds = bytearray()
        char, begin = chunk.char + first, chunk.cell + _start(chunk, first)
        cells = begin
        while True:
            last = min(self._char_at(chunk, x + width - 1) + 1, len(chunk.glyphs))
            glyphs_ += chunk.glyphs[first:last]
            kinds += chunk.kinds[first:last] if chunk.kinds is not None else bytes(max(last - first, 0))
            cells = chunk.cell + _start(chunk, max(last, first))
            index += 1
            if cells >= x + width or index >= self._chunk_count(number):
                break
            chunk, first = self._chunk(number, index), 0
        return Window(char, glyphs_, bytes(kinds) if any(kinds) else None, max(x - begin, 0), cells - begin)

    def display(self, number: int) -> str:
        """A whole line as it is shown (short lines; tests and lists)."""
        window = self.window(number, 0, max(self.line_width(number), 1))
        return "".join(window.glyphs)

    def _chunk_count(self, number: int) -> int:
        return max(1, -(-self.lines.length(number) // CHUNK))

    def _chunk_at(self, number: int, x: int) -> int:
        """Index of the chunk that holds a column; lays out what lies before it."""
        count = self._chunk_count(number)
        if count == 1:
            return 0
        columns = self._columns.get(number, ())
        while (not columns or columns[-1] <= x) and len(columns) < count:
            self._chunk(number, len(columns))
            columns = self._columns[number]
        return max(bisect_right(columns, x) - 1, 0)

    @staticmethod
    def _char_at(chunk: Chunk, x: int) -> int:
        inside = max(x - chunk.cell, 0)
        if chunk.starts is None:
            return min(inside, len(chunk.glyphs))
        # zero-width entries share a start: the last one before the next column is not wanted
        at = bisect_right(chunk.starts, inside) - 1
        return min(at, len(chunk.glyphs))

    def _chunk(self, number: int, index: int) -> Chunk:
        found = self._chunks.get((number, index))
        if found is not None:
            return found
        several = self._chunk_count(number) > 1
        columns = self._columns.setdefault(number, [0]) if several else [0]
        while len(columns) <= index:
            before = self._chunk(number, len(columns) - 1)
            if len(columns) == before.char // CHUNK + 1:
                columns.append(before.cell + before.cells)
        text = self.lines.part(number, index * CHUNK, (index + 1) * CHUNK)
        chunk = _lay_out(text, index * CHUNK, columns[index])
        if len(columns) == index + 1 and index + 1 < self._chunk_count(number):
            columns.append(chunk.cell + chunk.cells)
        self._chunks[number, index] = chunk
        if len(self._chunks) > _CACHED_CHUNKS:
            self._chunks.popitem(last=False)
        return chunk


def _start(chunk: Chunk, index: int) -> int:
    return index if chunk.starts is None else chunk.starts[index]


def _lay_out(text: str, char: int, cell: int) -> Chunk:
    if is_plain(text):
        return Chunk(char, cell, len(text), text)
    glyphs: list[str] = []
    starts = array("I")
    kinds = bytearray()
    column = 0
    for glyph, width, kind in _glyphs(text, cell):
        starts.append(column)
        glyphs.append(glyph)
        kinds.append(kind)
        column += width
    starts.append(column)
    return Chunk(char, cell, column, glyphs, starts, bytes(kinds) if any(kinds) else None)


def _glyphs(text: str, cell: int) -> Iterator[tuple[str, int, int]]:
    marks = _MAX_MARKS + 1
    column = cell
    for character in text:
        if character == "\t":
            glyph, width, kind = " " * (TAB - column % TAB), TAB - column % TAB, PLAIN
        else:
            glyph, width, kind = glyph_of(character)
        if width:
            # a mark has nothing to sit on after a symbol or a space of a tab
            marks = 0 if kind == PLAIN and character != "\t" else _MAX_MARKS + 1
        elif marks >= _MAX_MARKS:
            glyph, width, kind = spell(character), len(spell(character)), ALERT
        else:
            marks += 1
        column += width
        yield glyph, width, kind
