"""Terminals of 256 colours: every colour becomes the nearest that there is, and stays legible.

Rich by itself takes what is bluish for blue, so that bars turn navy. Here near greys stay grey, and where a
text would stand out less from its ground than it was meant to, it is moved on.
"""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from judge_tui.tui.look.contrast import READ, contrast

__all__ = ["Rounded", "nearest"]

_LEVELS = (0, 95, 135, 175, 215, 255)
#: Numbers of the cube and of the greys → what they are; those below are the reader's own.
_TABLE = tuple(
    [(red, green, blue) for red in _LEVELS for green in _LEVELS for blue in _LEVELS]
    + [(8 + 10 * n,) * 3 for n in range(24)]
)
_FIRST = 16
#: How the eye weighs what differs.
_WEIGHTS = (3, 4, 2)
_STEPS = 12


@lru_cache(4096)
def nearest(color: tuple[int, int, int]) -> int:
    """Number of the terminal's colour that is nearest to a colour."""

    def distance(number: int) -> int:
        pairs = zip(_WEIGHTS, _TABLE[number], color, strict=True)
        return sum(weight * (here - there) ** 2 for weight, here, there in pairs)

    return min(range(len(_TABLE)), key=distance) + _FIRST


class Rounded(LineFilter):
    """Gives every segment colours of the 256."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else _rounded(style), control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def _rounded(style: Style) -> Style:
    ground = _triplet(style.bgcolor)
    ink = _triplet(style.color)
    below = None if ground is None else nearest(ground)
    above = None if ink is None else nearest(ink)
    if ground is not None and ink is not None and below is not None:
        above = _apart(ink, ground, below)
    return style + Style(color=_numbered(above), bgcolor=_numbered(below))


def _apart(ink: tuple[int, int, int], ground: tuple[int, int, int], below: int) -> int:
    """The nearest colour that stands out as far as the ink was meant to, or as far as is read."""
    meant = min(contrast(Color(*ink), Color(*ground)), READ)
    on = Color(*_TABLE[below - _FIRST])
    end = max((Color(0, 0, 0), Color(255, 255, 255)), key=lambda one: contrast(one, on))
    for step in range(_STEPS):
        moved = Color(*ink).blend(end, step / _STEPS)
        found = nearest((moved.r, moved.g, moved.b))
        if contrast(Color(*_TABLE[found - _FIRST]), on) >= meant:
            return found
    return nearest((end.r, end.g, end.b))


def _triplet(color: RichColor | None) -> tuple[int, int, int] | None:
    if color is None or color.type is not ColorType.TRUECOLOR or color.triplet is None:
        return None
    return color.triplet.red, color.triplet.green, color.triplet.blue


def _numbered(number: int | None) -> RichColor | None:
    return None if number is None else RichColor.from_ansi(number)
