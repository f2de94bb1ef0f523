"""``NO_COLOR`` (no-color.org): not one colour reaches the terminal; bold, underlined and reversed text does.

Textual by itself turns colours into greys, which are colours to a terminal still.
"""

from __future__ import annotations

import os
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

__all__ = ["Colorless", "no_color_asked"]


def no_color_asked() -> bool:
    """Whether the environment asks for no colour: set, and not empty."""
    return bool(os.environ.get("NO_COLOR"))


@lru_cache(1024)
def _bare(style: Style) -> Style:
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
        strike=style.strike,
    )


class Colorless(LineFilter):
    """Takes foregrounds and backgrounds off every segment."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else _bare(style), control)
            for text, style, control in segments
        ]
