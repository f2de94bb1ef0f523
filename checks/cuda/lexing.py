"""Code, comments and literals of C++ text, told apart without a grammar: broken files have them too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Piece", "blanked", "pieces"]

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<literal>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![\w])'(?:\\.|[^'\\\n])*')""",
    re.S,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text."""

    kind: Literal["code", "comment", "literal"]
    start: int
    end: int


def pieces(text: str) -> Iterator[Piece]:
    """Divide text.

    Args:
        text: C++ source.

    Yields:
        Stretches in order, without gaps.
    """
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() > at:
            yield Piece("code", at, match.start())
        yield Piece("comment" if match["comment"] is not None else "literal", match.start(), match.end())
        at = match.end()
    if at < len(text):
        yield Piece("code", at, len(text))


def blanked(text: str) -> str:
    """The text with comments and literals blanked, every character in its place.

    Args:
        text: C++ source.
    """
    return "".join(
        text[p.start : p.end] if p.kind == "code" else re.sub(r"[^\n]", " ", text[p.start : p.end])
        for p in pieces(text)
    )
