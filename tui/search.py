"""Search in a source: plain or regular expression, case-blind unless the pattern has a capital."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from judge_tui.tui.source import Source

__all__ = ["Hit", "Pattern", "compile_pattern", "find"]

#: Characters that are searched in one go: a step of the search stays short.
_STRETCH = 200_000
_MOST = 20_000

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where a pattern matches: 0-based line, first character and the one after the last."""

    line: int
    start: int
    end: int


def compile_pattern(text: str, *, regex: bool) -> Pattern | None:
    """The pattern for a query; ``None`` for an empty one.

    Raises:
        re.error: The regular expression is malformed.
    """
    if not text:
        return None
    flags = re.MULTILINE | (0 if text != text.lower() else re.IGNORECASE)
    return re.compile(text if regex else re.escape(text), flags)


def find(source: Source, pattern: Pattern) -> list[Hit]:
    """All matches that begin and end in one line, in order; at most 20,000."""
    starts, text = source.line_starts(), source.text
    hits: list[Hit] = []
    first = 0
    while first < len(starts) and len(hits) < _MOST:
        last = max(bisect_right(starts, starts[first] + _STRETCH) - 1, first + 1)
        end = starts[last] - 1 if last < len(starts) else len(text)
        for match in pattern.finditer(text, starts[first], end):
            if match.end() > match.start():
                line = bisect_right(starts, match.start()) - 1
                begin = match.start() - starts[line]
                stop = min(
                    match.end() - starts[line], len(source.lines[line]) if line < len(source.lines) else 0
                )
                hits.append(Hit(line, begin, stop))
                if len(hits) >= _MOST:
                    break
        first = last
    return hits
