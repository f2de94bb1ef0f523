"""Texts and comments over several lines: what lines that are shown out of the middle of one stand in."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence

__all__ = ["Over", "opening_at", "over_lines"]

#: First and last line of what goes over several, and how it is opened.
Over = tuple[int, int, str]

_QUOTES = re.compile(r"[a-zA-Z]*(\"{3}|'{3})")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
#: Ends of names of files in which such comments stand.
_LIKE_C = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".js", ".rs", ".ts")


def over_lines(name: str, lines: Sequence[str]) -> list[Over]:
    """Texts and comments of a file that go over several lines, as far as it can be read.

    Args:
        name: Of the file.
        lines: All of its lines.
    """
    text = "\n".join(lines)
    if name.endswith(".py"):
        return list(_texts(text))
    return list(_comments(text)) if name.endswith(_LIKE_C) else []


def opening_at(found: Sequence[Over], line: int) -> str:
    """How what a line stands in was opened above it; empty where it stands in nothing.

    Args:
        found: What goes over several lines.
        line: 1-based.
    """
    return next((opening for first, last, opening in found if first < line <= last), "")


def _texts(text: str) -> Iterator[Over]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            quotes = _QUOTES.match(token.string) if token.type == tokenize.STRING else None
            if quotes and token.end[0] > token.start[0]:
                yield token.start[0], token.end[0], quotes.group()
    except (tokenize.TokenError, SyntaxError):
        return


def _comments(text: str) -> Iterator[Over]:
    for found in _COMMENT.finditer(text):
        first = text.count("\n", 0, found.start()) + 1
        yield first, first + found.group().count("\n"), "/*"
