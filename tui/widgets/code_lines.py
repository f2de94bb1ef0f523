"""One line of a source as a Strip: gutter, text, syntax, search hits, marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from judge_tui.tui.code.display_rows import fold_marker
from judge_tui.tui.code.highlight import Highlighter
from judge_tui.tui.code.search import Hit
from judge_tui.tui.code.source import Source, Window
from judge_tui.tui.code.whitespace import with_whitespace
from judge_tui.tui.look.glyphs import ALERT, CONTROL
from judge_tui.tui.look.in_a_row import of_one_colour

__all__ = ["BOOKMARK", "DOUBT", "LOST", "Look", "Mark", "gutter_width", "line_strip"]

#: Stands beside a line with a bookmark, whose number is underlined.
BOOKMARK = "•"
#: Stands where a note was written on lines that say something else now.
LOST = "≠"
#: Stands where a note may be that may be in other places too.
DOUBT = "≈"
_UNDERLINED = Style(underline=True)

_RUN = re.compile(rb"(.)\1*", re.DOTALL)
_HIT = 0x40
_FLAGGED = 0x80


class Mark(Struct, frozen=True):
    """What the gutter shows beside a line: a glyph and the name of its style, and a second one behind it.

    ``continued`` where it belongs to what begins further up.
    """

    glyph: str
    style: str
    beside: Mark | None = None
    continued: bool = False

    @property
    def begins(self) -> bool:
        """Whether something begins on the line."""
        return not self.continued or self.beside is not None


class Look(Struct, frozen=True):
    """The styles of a code view under the present theme.

    Attributes:
        base: Text on its background.
        gutter: Line numbers.
        cursor: Background of the cursor's line.
        cursor_gutter: Its number.
        selected: Background of selected lines.
        hit: A search hit.
        control: Control pictures.
        alert: What deceives a reader.
        marks: Style by name, for the mark column.
        syntax: One style per style number.
    """

    base: Style
    gutter: Style
    cursor: Style
    cursor_gutter: Style
    selected: Style
    hit: Style
    control: Style
    alert: Style
    marks: Mapping[str, Style]
    syntax: Sequence[Style]


def gutter_width(lines: int) -> int:
    """Columns of the gutter for a file of that many lines: number, mark, space."""
    return max(len(str(lines)), 3) + 3


def line_strip(
    source: Source,
    number: int,
    *,
    left: int,
    width: int,
    look: Look,
    highlighter: Highlighter | None = None,
    hits: Sequence[Hit] = (),
    mark: Mark | None = None,
    cursor: bool = False,
    selected: bool = False,
    wrapped: bool = False,
    continued: bool = False,
    folded: int = 0,
    flagged: bool = False,
    whitespace: bool = False,
) -> Strip:
    """Render a line, padded to the width of the view.

    Args:
        source: The file.
        number: 0-based line.
        left: First column in view.
        width: Columns of the view, gutter included.
        look: Styles.
        highlighter: Tells the syntax styles.
        hits: Search hits in this line.
        mark: What the mark column shows.
        cursor: Whether the cursor is on this line.
        selected: Whether the line is selected.
        wrapped: Whether what does not fit goes on in the next row.
        continued: Whether this is such a further row.
        folded: How many lines are folded away behind this one.
        flagged: Whether a bookmark is on this line.
        whitespace: Whether tabs and trailing blanks are shown.
    """
    base = look.base + look.selected if selected else look.base + look.cursor if cursor else look.base
    columns = gutter_width(len(source))
    label = "" if continued else f"{number + 1}"
    if flagged and not continued:
        mark = mark or Mark(BOOKMARK, "accent")
    segments = _gutter(label, columns, mark, base, look, cursor or selected, flagged)
    window = source.window(number, left, max(width - columns, 1))
    if whitespace:
        window = with_whitespace(window, source.lines, number)
    body = _body(window, number, max(width - columns, 1), base, look, highlighter, hits)
    if folded:
        if not continued:
            segments[-1] = Segment("▸", base + look.control)
        marker, room, rest = fold_marker(folded), width - columns, source.line_width(number) - left
        # of a line that is wrapped, behind the end of its text: in the last row
        if not wrapped or rest <= 0 or rest + len(marker) <= room:
            body = _marked(body, max(min(rest, room - len(marker)), 0), marker, room, base, look)
    segments += body
    return Strip(of_one_colour(segments, base), max(width, columns + 1)).crop(0, width)


def _gutter(
    label: str, columns: int, mark: Mark | None, base: Style, look: Look, lit: bool, flagged: bool
) -> list[Segment]:
    style = base + (look.cursor_gutter if lit else look.gutter)
    shown = _shown(mark, base, look)
    number = [Segment(f"{label:>{columns - 2}}", style)]
    if flagged and label:
        # seen beside a note or finding, which takes the column of the mark
        number = [Segment(" " * (columns - 2 - len(label)), style), Segment(label, style + _UNDERLINED)]
    if not mark and not flagged:
        # most lines: one piece is sent instead of three
        return [Segment(f"{label:>{columns - 2}} ", style), Segment(" ", base)]
    return [*number, shown, _shown(mark and mark.beside, base, look)]


def _shown(mark: Mark | None, base: Style, look: Look) -> Segment:
    if mark is None:
        return Segment(" ", base)
    return Segment(mark.glyph, base + look.marks.get(mark.style, look.control))


def _body(
    window: Window,
    number: int,
    width: int,
    base: Style,
    look: Look,
    highlighter: Highlighter | None,
    hits: Sequence[Hit],
) -> list[Segment]:
    count = len(window.glyphs)
    codes = _codes(window.char, count, number, highlighter, hits, window.kinds)
    segments = [
        Segment("".join(window.glyphs[first:end]), _style(code, base, look))
        for first, end, code in _runs(codes, window.glyphs)
    ]
    if window.lead or window.cells - window.lead > width:
        cropped = Strip(segments, window.cells).crop(window.lead, window.lead + width)
        segments, cells = list(cropped), cropped.cell_length
    else:
        cells = window.cells
    if cells < width:
        segments.append(Segment(" " * (width - cells), base))
    return segments


def _marked(body: list[Segment], text: int, marker: str, room: int, base: Style, look: Look) -> list[Segment]:
    """So many columns of a line, and behind them what tells of the fold."""
    blank = max(room - len(marker) - text, 0)
    return [*Strip(body).crop(0, text), Segment(marker, base + look.control), Segment(" " * blank, base)]


def _runs(codes: bytes, glyphs: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Stretches of one style: first, end and code. A blank goes with what stands before it: less to send."""
    first = end = code = 0
    for run in _RUN.finditer(codes):
        now = run.group(1)[0]
        plain = now == 0 and end > first and not code & (_HIT | _FLAGGED)
        if plain and all(glyph == " " for glyph in glyphs[end : run.end()]):
            end = run.end()
            continue
        if end > first:
            yield first, end, code
        first, end, code = run.start(), run.end(), now
    if end > first:
        yield first, end, code


def _codes(
    char: int,
    count: int,
    number: int,
    highlighter: Highlighter | None,
    hits: Sequence[Hit],
    kinds: bytes | None,
) -> bytes:
    styles = highlighter.styles(number) if highlighter else None
    if styles is None and not hits and kinds is None:
        return bytes(count)
    codes = bytearray(styles[char : char + count] if styles else b"")
    codes += bytes(count - len(codes))
    for hit in hits:
        for at in range(max(hit.start - char, 0), min(hit.end - char, count)):
            codes[at] |= _HIT
    if kinds is not None:
        for at, kind in enumerate(kinds):
            if kind:
                codes[at] = _FLAGGED | kind
    return bytes(codes)


def _style(code: int, base: Style, look: Look) -> Style:
    if code & _FLAGGED:
        return base + (
            look.alert if code & 0x3F == ALERT else look.control if code & 0x3F == CONTROL else base
        )
    number = code & 0x3F
    style = base + look.syntax[number] if number < len(look.syntax) else base
    return style + look.hit if code & _HIT else style
