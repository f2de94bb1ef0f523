"""Tables of plain text that fit the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence

__all__ = ["aligned", "cells", "coloured", "columns", "padded", "wrapped"]


def columns() -> int:
    """Columns of the terminal, 80 when there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def coloured() -> bool:
    """Whether standard output shows colours and wants them."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def cells(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int) -> str:
    """The text with spaces up to a width in columns."""
    return text + " " * (width - cells(text))


def wrapped(text: str, width: int, indent: int) -> str:
    """The text broken at spaces, following lines indented.

    Args:
        text: One paragraph.
        width: Columns of the whole line, indentation included.
        indent: Columns before the text on every line; the first line's are the caller's.
    """
    import textwrap

    lines = textwrap.wrap(text, max(20, width - indent), break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * indent).join(lines)


def aligned(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Rows with their columns under each other; what is too wide goes into a further block.

    Args:
        rows: The head first; the first column is repeated in every block.
        width: Columns that a line may take.
    """
    widths = [max(cells(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines: list[str] = []
    at = 1
    while at < len(widths):
        end = at + 1
        while end < len(widths) and widths[0] + sum(2 + w for w in widths[at : end + 1]) <= width:
            end += 1
        if lines:
            lines.append("")
        picked = (0, *range(at, end))
        lines += ["  ".join(padded(row[i], widths[i]) for i in picked).rstrip() for row in rows]
        at = end
    return lines
