"""Search in a source: plain or regular expression, case-blind unless the pattern has a capital."""

from __future__ import annotations

import math
import re
import time
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from judge_tui.tui.code.source import Source

__all__ = ["Hit", "Pattern", "compile_pattern", "find", "narrowed"]

#: Characters that are searched in one go: a short hold of the lock, and they stay in the processor's cache.
_STRETCH = 200_000
_MOST = 20_000
#: Matches that are looked at again when a query grows; more are found faster from the start.
_AGAIN = 5_000
#: A match in a line of megabytes is at most so long.
_OVERLAP = 2_000
#: Seconds that a regular expression may take in one go, where some take longer than the world stands,
#: and how often as long in one file.
_PATIENCE_S, _GOES = 1.0, 10
#: What the counts of all repetitions may come to when multiplied: ``regex`` unrolls them when it compiles.
_UNROLLED = 100_000


class Pattern(Struct, frozen=True):
    """What is searched for.

    Attributes:
        compiled: As a regular expression; one that was typed is of ``regex``, whose matching leaves the
            lock to others and can be stopped.
        literal: The text itself; without a capital where case does not count, empty for a regular expression.
    """

    compiled: Any
    literal: str = ""

    def spans(self, text: str, first: int, end: int, seconds: float) -> Iterator[tuple[int, int]]:
        """Matches that begin and end between two characters: first and the one after the last.

        Raises:
            TimeoutError: A typed expression takes longer than ``seconds``.
        """
        literal = self.literal
        if not literal:
            if seconds <= 0:
                raise TimeoutError
            found = self.compiled.finditer(text, first, end, concurrent=True, timeout=seconds)
            yield from (match.span() for match in found)
            return
        # the lines with other letters may be few
        whole, before = (text, 0) if text.isascii() else (text[first:end], first)
        if not whole.isascii() or not literal.isascii():
            yield from (match.span() for match in self.compiled.finditer(text, first, end))
            return
        # ten times as fast, and in ASCII the same: no letter changes its length with its case
        if self.compiled.flags & re.IGNORECASE:
            whole = _lowered(whole) if whole is text else whole.lower()
        at = whole.find(literal, first - before, end - before)
        while at >= 0:
            yield before + at, before + at + len(literal)
            at = whole.find(literal, at + len(literal), end - before)


@lru_cache(maxsize=3)
def _lowered(text: str) -> str:
    """An ASCII text in small letters; kept while more of a query is typed, for as many as are compared."""
    parts = []
    for at in range(0, len(text), _STRETCH):
        parts.append(text[at : at + _STRETCH].lower())
        time.sleep(0)
    return "".join(parts)


class Hit(Struct, frozen=True):
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
    return _typed(text, flags) if regex else Pattern(re.compile(re.escape(text), flags), text)


def _typed(text: str, flags: int) -> Pattern:
    import regex

    if math.prod(max(int(count), 1) for count in re.findall(r"\{(\d{1,9})", text)) > _UNROLLED:
        raise re.error("repetitions come to more than can be searched for", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Pattern(regex.compile(text, flags))
    except regex.error as error:
        # the stubs leave out what these errors have in common with those of re
        raise re.error(error.msg, text, error.pos) from error  # type: ignore[attr-defined]
    except RecursionError as error:
        raise re.error("nested too deeply", text) from error


def find(
    source: Source, pattern: Pattern, proceed: Callable[[], bool] = lambda: True, seconds: float = _PATIENCE_S
) -> list[Hit]:
    """All matches that begin and end in one line, in order; at most 20,000.

    Args:
        source: Where to look.
        pattern: What to look for.
        proceed: Whether the answer is still wanted.
        seconds: What a regular expression may take in one go.

    Raises:
        TimeoutError: It takes longer, or ten times as long in all.
    """
    lines, text = source.lines, source.text
    starts = lines.starts
    hits: list[Hit] = []
    first, until = 0, time.monotonic() + _GOES * seconds
    while first < len(lines) and len(hits) < _MOST and proceed():
        last = min(max(bisect_right(starts, starts[first] + _STRETCH) - 1, first + 1), len(lines))
        for start, stop in _matches(text, pattern, starts[first], starts[last] - 1, seconds, until):
            line = lines.at(start)
            hits.append(Hit(line, start - starts[line], min(stop - starts[line], lines.length(line))))
            if len(hits) >= _MOST:
                break
        first = last
    return hits


def narrowed(source: Source, pattern: Pattern, before: Pattern, hits: Sequence[Hit]) -> list[Hit] | None:
    """All matches of a text that begins with another one, whose matches are known; as :func:`find` has them.

    Args:
        source: Where to look.
        pattern: What to look for.
        before: What was looked for.
        hits: All its matches.

    Returns:
        ``None`` where these do not tell.
    """
    shorter, longer = before.literal.lower(), pattern.literal.lower()
    if not shorter or not longer.startswith(shorter) or not longer.isascii() or len(hits) > _AGAIN:
        return None
    if any(shorter.startswith(shorter[at:]) for at in range(1, len(shorter))):
        # one that began within another was not found
        return None
    starts, lines, found = source.lines.starts, source.lines, []
    for hit in hits:
        if match := pattern.compiled.match(source.text, starts[hit.line] + hit.start):
            stop = match.end() - starts[hit.line]
            found.append(Hit(hit.line, hit.start, min(stop, lines.length(hit.line))))
    return found


def _matches(
    text: str, pattern: Pattern, first: int, end: int, seconds: float, until: float
) -> Iterator[tuple[int, int]]:
    """Matches in a stretch; a line of megabytes is gone through in pieces, each a short hold of the lock."""
    at = first
    while at < end:
        # a piece ends where a match may still begin: what reaches over its end is found by the next one
        last = min(at + _STRETCH, end)
        reach = min(last + _OVERLAP, end)
        following = last
        for start, stop in pattern.spans(text, at, reach, min(seconds, until - time.monotonic())):
            if start >= last:
                break
            if stop > start and (stop < reach or reach == end):
                following = max(following, stop)
                yield start, stop
        at = following
        time.sleep(0)
