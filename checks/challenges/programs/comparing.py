"""Holding what a program printed against the answer: by tokens, lines, bytes, or numbers within a tolerance.

All of it works on bytes: what is not UTF-8 is as good an answer as any other. Of a Kattis package come the
words ``any-case`` and ``spaces`` (blanks count), and a tolerance that is relative or absolute alone.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

__all__ = ["MODES", "Comparison", "Difference", "comparison"]

MODES = ("tokens", "exact", "lines", "float 1e-6")

_NUMBER = re.compile(rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)\Z", re.I)
_TOKEN, _PIECE = re.compile(rb"\S+"), re.compile(rb"\s+|\S+")
_BLANKS = b" \t\r\f\v"
#: Digits of numbers that are larger than a float.
_DIGITS = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where an answer is not the one that was expected.

    Attributes:
        place: As words: ``line 3, token 2``.
        expected: What stands there in the answer; ``None`` where nothing does.
        got: What the program printed there.
        line: 1-based line of what it printed.
    """

    place: str
    expected: bytes | None
    got: bytes | None
    line: int = 1

    def told(self, most: int = 60) -> str:
        """One clause."""
        if self.got is None:
            return f"{self.place}: nothing instead of {_quoted(self.expected or b'', most)}"
        if self.expected is None:
            return f"{self.place}: {_quoted(self.got, most)} where nothing must come any more"
        return f"{self.place}: {_quoted(self.got, most)} instead of {_quoted(self.expected, most)}"


#: Holds an answer (expected, got); ``None`` where it is right.
Comparison = Callable[[bytes, bytes], Difference | None]
#: Whether a token (expected, got) is right.
_Same = Callable[[bytes, bytes], bool]


def comparison(told: str) -> Comparison:
    """The comparison that a challenge asks for.

    Args:
        told: ``tokens``, ``exact``, ``lines`` or ``float 1e-6``.

    Raises:
        ValueError: It is none of these; the text is a clause.
    """
    mode, *words = told.split() or [""]
    if mode == "exact" and not words:
        return _exact
    if mode == "lines" and not words:
        return _by_lines
    if mode not in ("tokens", "float"):
        raise ValueError(f"'{told}' is no comparison: {', '.join(MODES)} are")
    any_case, spaces = "any-case" in words, "spaces" in words
    words = [word for word in words if word not in ("any-case", "spaces")]
    same = _folded if any_case else _equal
    if mode == "float":
        same = _Near(*_tolerances(told, words), same)
    elif words:
        raise ValueError(f"'{told}' is no comparison: '{words[0]}' says nothing to {mode}")
    return _ByTokens(same, _PIECE if spaces else _TOKEN)


def _tolerances(told: str, words: Sequence[str]) -> tuple[float, float]:
    """The relative and the absolute tolerance: one number for both, or each by its name."""
    found = {"relative": 0.0, "absolute": 0.0}
    try:
        if len(words) == 1:
            found = dict.fromkeys(found, float(words[0]))
        else:
            pairs = dict(zip(words[::2], map(float, words[1::2]), strict=True))
            if not pairs or not pairs.keys() <= found.keys():
                raise ValueError
            found |= pairs
        if not all(0 <= value < math.inf for value in found.values()):
            raise ValueError
    except ValueError:
        raise ValueError(
            f"'{told}' is no comparison: 'float' takes a tolerance, as in 'float 1e-6'"
        ) from None
    return found["relative"], found["absolute"]


def _equal(expected: bytes, got: bytes) -> bool:
    return expected == got


def _folded(expected: bytes, got: bytes) -> bool:
    return expected.lower() == got.lower()


@dataclass(frozen=True, slots=True)
class _Near:
    """Numbers within a tolerance, either of two; what is no number on both sides is held otherwise."""

    relative: float
    absolute: float
    otherwise: _Same

    def __call__(self, expected: bytes, got: bytes) -> bool:
        if expected == got:
            return True
        if not (_NUMBER.match(expected) and _NUMBER.match(got)):
            return self.otherwise(expected, got)
        truth, value = float(expected), float(got)
        if math.isnan(truth) or math.isnan(value):
            return math.isnan(truth) and math.isnan(value)
        if math.isinf(truth) or math.isinf(value):
            return self._large(expected, got)
        error = abs(value - truth)
        return error <= self.absolute or error <= self.relative * abs(truth)

    def _large(self, expected: bytes, got: bytes) -> bool:
        """Infinities by sign, and numbers that are larger than a float."""
        with decimal.localcontext(
            decimal.Context(_DIGITS, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[])
        ):
            truth, value = decimal.Decimal(expected.decode()), decimal.Decimal(got.decode())
            if not (truth.is_finite() and value.is_finite()):
                return truth == value
            error = abs(value - truth)
            limits = decimal.Decimal(self.absolute), decimal.Decimal(self.relative) * abs(truth)
            return any(bool(error <= limit) for limit in limits)


@dataclass(frozen=True, slots=True)
class _ByTokens:
    """Token by token; what parts them does not count."""

    same: _Same
    token: re.Pattern[bytes]

    def __call__(self, expected: bytes, got: bytes) -> Difference | None:
        if expected == got:
            return None
        theirs, ours = self.token.finditer(got), self.token.finditer(expected)
        for one in ours:
            other = next(theirs, None)
            if other is None:
                return Difference(f"{_line(got, len(got))}, at the end", one[0], None, _number(got, len(got)))
            if not self.same(one[0], other[0]):
                return self._different(got, one, other)
        if (other := next(theirs, None)) is not None:
            return self._different(got, None, other)
        return None

    def _different(self, got: bytes, one: re.Match[bytes] | None, other: re.Match[bytes]) -> Difference:
        begin = got.rfind(b"\n", 0, other.start()) + 1
        column = sum(1 for _ in self.token.finditer(got, begin, other.start())) + 1
        place = f"{_line(got, other.start())}, token {column}"
        return Difference(place, one[0] if one else None, other[0], _number(got, other.start()))


def _by_lines(expected: bytes, got: bytes) -> Difference | None:
    """Line by line; blanks at a line's end, CR and the last newline do not count."""
    if expected == got:
        return None
    pairs = zip_longest(_lines(expected), _lines(got))
    for number, (one, other) in enumerate(pairs, start=1):
        if one != other:
            return Difference(f"line {number}", one, other, number)
    return None


def _lines(text: bytes) -> Iterator[bytes]:
    """One by one: an output may have as many as it has bytes."""
    text = text.rstrip(_BLANKS).removesuffix(b"\n")
    begin = 0
    while (end := text.find(b"\n", begin)) >= 0:
        yield text[begin:end].rstrip(_BLANKS)
        begin = end + 1
    yield text[begin:].rstrip(_BLANKS)


def _exact(expected: bytes, got: bytes) -> Difference | None:
    """Byte by byte."""
    if expected == got:
        return None
    shorter = min(len(expected), len(got))
    low, high = 0, shorter
    while low < high:
        # all before low is the same; what is first different is at most high
        middle = (low + high + 1) // 2
        if expected[low:middle] == got[low:middle]:
            low = middle
        else:
            high = middle - 1
    begin = got.rfind(b"\n", 0, low) + 1
    place = f"{_line(got, low)}, byte {low - begin + 1}"
    one, other = (text[low : low + 40] if low < len(text) else None for text in (expected, got))
    return Difference(place, one, other, _number(got, low))


def _number(text: bytes, at: int) -> int:
    return text.count(b"\n", 0, at) + 1


def _line(text: bytes, at: int) -> str:
    return f"line {_number(text, at)}"


def _quoted(text: bytes, most: int) -> str:
    """Bytes for people: what is not UTF-8, and what cannot be seen, as escapes."""
    said = text[: most * 4].decode("utf-8", "backslashreplace")
    said = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in said)
    return f"'{said[:most]}…'" if len(said) > most else f"'{said}'"
