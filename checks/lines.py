"""What a line is, here and everywhere: it ends with LF, CRLF or a lone CR, and with nothing else.

These are the line ends of Python itself (its tokenizer, ``ast`` and tracebacks), of editors, and of CUDA
sources as they are read here. ``str.splitlines`` also ends lines at form feeds, vertical tabs, U+001C to
U+001E, U+0085, U+2028 and U+2029: nobody else counts those. Compilers and tree-sitter know line feeds alone:
they are handed :func:`unified` text, or what they say is brought here by :func:`from_feeds`.
"""

from __future__ import annotations

import re

__all__ = ["count_lines", "from_feeds", "line_at", "split_lines", "unified"]

_END = re.compile(r"\r\n?|\n")
_END_OF_BYTES = re.compile(rb"\r\n?|\n")


def unified(text: str) -> str:
    """The text with a line feed at every end of a line."""
    return _END.sub("\n", text) if "\r" in text else text


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends; behind a last end there is no further line."""
    lines = unified(text).split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def count_lines(text: str) -> int:
    """How many lines a text has; an empty one has none."""
    return len(split_lines(text)) if text else 0


def line_at(text: str | bytes, offset: int) -> int:
    """The 1-based line that holds a character, or a byte."""
    if isinstance(text, bytes):
        ends = [match.end() for match in _END_OF_BYTES.finditer(text, 0)] if b"\r" in text else None
        if ends is None:
            return text.count(b"\n", 0, offset) + 1
        return sum(end <= offset for end in ends) + 1
    if "\r" not in text:
        return text.count("\n", 0, offset) + 1
    return sum(match.end() <= offset for match in _END.finditer(text)) + 1


def from_feeds(data: bytes, line: int) -> int:
    """The line here of what somebody who counts line feeds alone calls line ``line``; both 1-based.

    Args:
        data: Bytes of the file.
        line: By their count.
    """
    if b"\r" not in data or line < 2:
        return line
    at = -1
    for _ in range(line - 1):
        at = data.find(b"\n", at + 1)
        if at < 0:
            return line
    return line_at(data, at + 1)
