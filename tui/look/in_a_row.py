"""A row of a list as it is drawn: as wide as there is room, an ellipsis where text did not fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

__all__ = ["in_a_row", "of_one_colour"]


def of_one_colour(segments: Sequence[Segment], base: Style) -> Sequence[Segment]:
    """The segments of a row; of one colour where it is reversed, since that of a piece would be its ground.

    Args:
        segments: Texts and their styles.
        base: The style of the row.
    """
    if not base.reverse:
        return segments
    return [Segment(text, base + style.without_color if style else base) for text, style, _ in segments]


def in_a_row(segments: Sequence[Segment], width: int, base: Style) -> Strip:
    """The segments in a row of so many cells.

    Args:
        segments: Texts without line ends, and their styles.
        width: Of the row.
        base: The style of what is left over.
    """
    segments = of_one_colour(segments, base)
    strip = Strip(segments)
    if strip.cell_length <= width or cell_len(strip.text.rstrip()) <= width:
        return strip.adjust_cell_length(width, base)
    kept = list(strip.crop(0, width - 1))
    style = kept[-1].style if kept else base
    return Strip([*kept, Segment("…", style)]).adjust_cell_length(width, base)
