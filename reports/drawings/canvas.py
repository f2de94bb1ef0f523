"""Marks of SVG, collected: texts, lines and shapes that are coloured by classes alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

from judge_tui.judging.plain import plain

__all__ = ["FONT", "WIDTH", "Canvas", "fit", "number", "wide", "wrapped"]

#: Pixels across every drawing: a phone shows it without making it smaller.
WIDTH = 360
#: Pixels of a text's height.
FONT = 12
#: Of that, what a letter is wide at most, about: no two systems have the same font.
_LETTER = 0.64


class Canvas:
    """A drawing in the making; pixels count from the left and from the top."""

    def __init__(self) -> None:
        self.marks: list[str] = []

    def text(self, x: float, y: float, text: str, kind: str = "label", align: str = "start") -> None:
        """Write a text.

        Args:
            x: Where it begins, ends or has its middle.
            y: Its base line.
            text: It.
            kind: Class that colours it.
            align: ``start``, ``middle`` or ``end``.
        """
        at = f' text-anchor="{align}"' if align != "start" else ""
        self.marks.append(
            f'<text class="{kind}" x="{number(x)}" y="{number(y)}"{at}>{escape(plain(text))}</text>'
        )

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """Draw a line between two places."""
        (x1, y1), (x2, y2) = start, end
        ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
        self.marks.append(f'<line class="{kind}" {ends}/>')

    def box(self, x: float, y: float, width: float, height: float, kind: str, opacity: float = 1.0) -> None:
        """Draw a filled box.

        Args:
            x: Left side.
            y: Upper side.
            width: Of it.
            height: Of it.
            kind: Class that colours it.
            opacity: From 0, not to be seen, to 1.
        """
        faint = f' fill-opacity="{number(opacity, 2)}"' if opacity < 1 else ""
        size = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        self.marks.append(f'<rect class="{kind}" {size}{faint}/>')

    def path(self, way: Sequence[tuple[float, float]], kind: str, *, closed: bool = False) -> None:
        """Draw a line through several places."""
        steps = " ".join(f"{number(x)},{number(y)}" for x, y in way)
        self.marks.append(f'<{"polygon" if closed else "polyline"} class="{kind}" points="{steps}"/>')

    def circle(self, x: float, y: float, radius: float, kind: str) -> None:
        """Draw a filled circle."""
        self.marks.append(f'<circle class="{kind}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>')


def number(value: float, digits: int = 1) -> str:
    """A figure for an attribute, the same on every machine."""
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def wide(text: str, size: float = FONT) -> float:
    """What a text is wide in pixels, about."""
    letters = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
    return letters * size * _LETTER


def fit(text: str, room: float) -> str:
    """A text, shortened where it is wider than the room in pixels."""
    if wide(text) <= room:
        return text
    while text and wide(f"{text}…") > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def wrapped(text: str, room: float) -> list[str]:
    """A text in lines that are no wider than the room in pixels; a longer word is shortened."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if wide(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(fit(word, room))
    return [line for line in lines if line]
