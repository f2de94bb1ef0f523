"""Fenced code in Markdown, as people and models write it.

Source: CommonMark 0.31, "Fenced code blocks"; and beyond it what chat answers do: fences in lists and quotes,
fences within Markdown or a docstring, fences that the next one ends, and a last one without an end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["MOST_FENCES", "Fence", "fences"]

#: Fences of one answer at most; behind so many, one more is looked for.
MOST_FENCES = 2_000
_LONGEST = 1_000
#: Quotes, blanks and marks of lists, and the mark of the fence.
_OPENING = re.compile(r"((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*)(`{3,}|~{3,})[ \t]*(.*)")
_QUOTES = re.compile(r'"""|\'\'\'')
_MARKDOWN = frozenset({"markdown", "md", "mdx"})
_TAB = 4


@dataclass(frozen=True, slots=True)
class Fence:
    """One fence.

    Attributes:
        info: What stands behind its opening mark.
        lines: The lines in it, without the indentation of the mark.
        first: Index of the line of its opening mark.
        last: Index of the line of its closing mark, or of its own last line.
        closed: Whether it has an end of its own.
    """

    info: str
    lines: tuple[str, ...]
    first: int
    last: int
    closed: bool

    @property
    def text(self) -> str:
        """The lines as a file has them."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def line(self) -> int:
        """1-based line of its opening mark."""
        return self.first + 1


@dataclass(slots=True)
class _Open:
    """A fence that is being read."""

    lead: str
    mark: str
    info: str
    first: int
    depth: int = 0
    quoted: str = ""
    passed: bool = False

    def goes_on(self, info: str, nested: bool) -> bool:
        """Whether a mark is of a fence within this one, in its Markdown or in a docstring."""
        if not nested or self.info.split(" ")[0].lower() not in _MARKDOWN:
            return nested and bool(self.quoted)
        self.depth += 1 if info else -1
        return self.depth >= 0


def fences(lines: Sequence[str]) -> tuple[Fence, ...]:
    """The fences of a text, in order.

    Args:
        lines: The text's lines.
    """
    found, swallowed = _read(lines, nested=True)
    return _read(lines, nested=False)[0] if swallowed else found


def _read(lines: Sequence[str], *, nested: bool) -> tuple[tuple[Fence, ...], bool]:
    """The fences, and whether the last has no end although marks that could be one were passed over in it."""
    found: list[Fence] = []
    fence: _Open | None = None
    for number, line in enumerate(lines):
        mark = _opening(line)
        if len(found) > MOST_FENCES:
            break
        if fence is None:
            fence = _Open(*mark, number) if mark else None
        elif mark is None or not _belongs(fence, mark):
            fence.quoted = _quoted(fence.quoted, line) if nested else ""
        elif fence.goes_on(mark[2], nested):
            fence.passed = True
        elif not mark[2]:
            found.append(_made(fence, lines, number, closed=True))
            fence = None
        elif len(mark[1]) == len(fence.mark) and _indent(mark[0]) <= _indent(fence.lead):
            # nobody ended this one
            found.append(_made(fence, lines, number, closed=False))
            fence = _Open(*mark, number)
    if fence is None:
        return tuple(found), False
    return (*found, _made(fence, lines, len(lines), closed=False)), fence.passed


def _opening(line: str) -> tuple[str, str, str] | None:
    """Indentation, mark and info of a line that may open a fence, or close one."""
    if "```" not in line and "~~~" not in line:
        return None
    match = _OPENING.fullmatch(line[:_LONGEST])
    if match is None or (match[2][0] == "`" and "`" in match[3]):
        return None
    return match[1], match[2], match[3].strip()


def _belongs(fence: _Open, mark: tuple[str, str, str]) -> bool:
    """Whether a mark can be about a fence: of the same kind, as long, and not deep inside."""
    return (
        mark[1][0] == fence.mark[0]
        and len(mark[1]) >= len(fence.mark)
        and _indent(mark[0]) < _indent(fence.lead) + _TAB
    )


def _indent(lead: str) -> int:
    return len(lead.expandtabs(_TAB))


def _quoted(quoted: str, line: str) -> str:
    """The marks of the docstring that is open behind a line; empty where none is."""
    if '"""' in line or "'''" in line:
        for mark in _QUOTES.findall(line):
            quoted = "" if mark == quoted else quoted or mark
    return quoted


def _made(fence: _Open, lines: Sequence[str], end: int, *, closed: bool) -> Fence:
    inside = [_without(line, fence.lead) for line in lines[fence.first + 1 : end]]
    while not closed and inside and not inside[-1].strip():
        inside.pop()
    last = end if closed else fence.first + len(inside)
    return Fence(fence.info, tuple(inside), fence.first, last, closed)


def _without(line: str, lead: str) -> str:
    """A line without the quotes and the indentation of its fence, as far as it has them."""
    if not lead:
        return line
    for _ in range(lead.count(">")):
        stripped = line.lstrip(" \t")
        if not stripped.startswith(">"):
            return line
        line = stripped[1:].removeprefix(" ")
    width = _indent(lead.rpartition(">")[2].removeprefix(" ") if ">" in lead else lead)
    blanks = len(line) - len(line.lstrip(" \t"))
    head = line[:blanks].expandtabs(_TAB)
    return head[width:] + line[blanks:] if len(head) > width else line[blanks:]
