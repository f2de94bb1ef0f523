"""A text as notes look at it: what its lines say, where else they say it, and what they stand in."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence
from functools import cached_property, lru_cache

from judge_tui.checks.lines import split_lines

__all__ = ["TextIndex", "indexed", "said"]

#: Bytes that are no UTF-8, however they were decoded.
_NO_TEXT = re.compile("[\ud800-\udfff\ufffd]+")
_NAMED = re.compile(
    r"(?:async\s+)?(?:def|class|struct|namespace|enum(?:\s+class)?|interface|fn|func)\s+(\w+)"
)
#: A function of C or the like: a type, a name, an opening parenthesis; no assignment and no call.
_TYPED = re.compile(r"(?:[\w:<>,*&~\[\] ]+[\s*&])?([\w:~]+)\s*\(")
_BOUNDS = re.compile(r"__launch_bounds__\s*\([^)]*\)")
_NO_NAME = re.compile(
    r"(?:if|else|elif|for|while|switch|return|do|with|try|except|catch|case|match|yield|await|assert|raise"
    r"|throw|new|delete|not|and|or|in|import|from|lambda|print)\b"
)
_ASIDE = ("#", "//", "/*", "*")
#: Other threads get their turn after so many lines: a screen must not wait for a large file.
_TURN = 0x3FF
_PIECE = 64_000


def said(line: str) -> str:
    """What a line says, however it is indented, spaced and quoted."""
    told = "".join(line.split()).replace("'", '"')
    return told if told.isascii() else _NO_TEXT.sub("\ufffd", told)


class TextIndex:
    """The lines of a text, from 0 on.

    Args:
        text: The text.

    Attributes:
        lines: Its lines.
        said: What each of them says; empty for a blank one.
    """

    def __init__(self, text: str) -> None:
        self.lines: Sequence[str] = _split(text)
        self.said: list[str] = []
        for first in range(0, len(self.lines), _TURN + 1):
            time.sleep(0)
            self.said += map(said, self.lines[first : first + _TURN + 1])
        #: The lines that are not blank.
        self.solid = [number for number, told in enumerate(self.said) if told]

    def __len__(self) -> int:
        return len(self.lines)

    def at(self, told: str) -> Sequence[int]:
        """The lines that say something."""
        found = self._at.get(told, ())
        return (found,) if isinstance(found, int) else found

    @cached_property
    def _at(self) -> dict[str, int | list[int]]:
        """What is said → the lines that say it; most lines are alone, and a list for each would be felt."""
        found: dict[str, int | list[int]] = {}
        for number in self.solid:
            if not number & _TURN:
                time.sleep(0)
            told = self.said[number]
            known = found.setdefault(told, number)
            if isinstance(known, list):
                known.append(number)
            elif known != number:
                found[told] = [known, number]
        return found

    @cached_property
    def _rank(self) -> list[int]:
        """Of each line, and of the one behind the last, how many lines before it are not blank."""
        ranks, count = [], 0
        for told in self.said:
            ranks.append(count)
            count += bool(told)
        return [*ranks, count]

    @cached_property
    def joined(self) -> tuple[str, dict[int, int]]:
        """All that is said, and where in it lines that are not blank begin: offset → which of those."""
        starts, at = {}, 0
        for rank, number in enumerate(self.solid):
            starts[at] = rank
            at += len(self.said[number])
        starts[at] = len(self.solid)
        return "".join(self.said), starts

    @cached_property
    def fingerprint(self) -> str:
        """Names the text: 16 hexadecimal digits."""
        digest = hashlib.sha256()
        for first in range(0, len(self.lines), _TURN + 1):
            time.sleep(0)
            text = "\n".join([*self.lines[first : first + _TURN + 1], ""])
            digest.update((text if text.isascii() else _NO_TEXT.sub("\ufffd", text)).encode())
        return digest.hexdigest()[:16]

    def before(self, number: int, count: int) -> list[int]:
        """So many lines before one, blank ones left out, the nearest first."""
        rank = self._rank[number]
        return self.solid[max(rank - count, 0) : rank][::-1]

    def behind(self, number: int, count: int) -> list[int]:
        """So many lines behind one, blank ones left out, the nearest first."""
        rank = self._rank[number + 1]
        return self.solid[rank : rank + count]

    @cached_property
    def within(self) -> list[str]:
        """Of each line the definitions that it stands in, by what is indented less: ``KVCache.append``.

        No grammar is asked: the answer is the same where none is installed and where a file is broken.
        """
        found: list[str] = []
        heads: list[_Head] = []
        for number, (line, told) in enumerate(zip(self.lines, self.said, strict=True)):
            if not number & _TURN:
                time.sleep(0)
            indent = _indent(line) if told else 0
            if not told or told.startswith(_ASIDE):
                above = next((head for head in reversed(heads) if head.indent < indent), None)
                found.append(above.inside if above is not None else "")
                continue
            while heads and heads[-1].indent > indent:
                heads.pop()
            beside = heads.pop() if heads and heads[-1].indent == indent else None
            within = heads[-1].inside if heads else ""
            found.append(within)
            # what ends a head of several lines is no head, and what follows stands in that one still
            ends = told[0] in ")]}" or told == "{"
            heads.append(beside if ends and beside is not None else _Head(indent, line, within))
        return found


def _split(text: str) -> list[str]:
    """The lines of a text, a piece at a time."""
    lines: list[str] = []
    at = 0
    while at < len(text):
        time.sleep(0)
        end = text.find("\n", at + _PIECE) + 1 or len(text)
        lines += split_lines(text[at:end])
        at = end
    return lines or [""]


class _Head:
    """A line that others may stand in.

    Args:
        indent: Its columns of indentation.
        line: The line.
        within: What it stands in itself.
    """

    __slots__ = ("_inside", "indent", "line", "within")

    def __init__(self, indent: int, line: str, within: str) -> None:
        self.indent, self.line, self.within = indent, line, within
        self._inside: str | None = None

    @property
    def inside(self) -> str:
        """What is defined around the lines that stand in it."""
        if self._inside is None:
            name = _name(self.line.lstrip())
            self._inside = ".".join(filter(None, (self.within, name)))
        return self._inside


def _indent(line: str) -> int:
    columns = len(line) - len(line.lstrip())
    return len(line[:columns].expandtabs(8)) if "\t" in line[:columns] else columns


def _name(text: str) -> str:
    if found := _NAMED.match(text):
        return found[1]
    if _NO_NAME.match(text):
        return ""
    text = _BOUNDS.sub("", text[:400])
    found = _TYPED.match(text)
    return found[1] if found and "=" not in text[: found.end()] else ""


@lru_cache(maxsize=16)
def indexed(text: str) -> TextIndex:
    """The index of a text; those that were looked at last are kept."""
    return TextIndex(text)
