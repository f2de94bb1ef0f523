"""Preprocessed CUDA text as tokens: the submission's own stretches of it, its brackets and scopes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "CLOSING",
    "MOST_TOKENS",
    "OPENING",
    "Refusal",
    "Token",
    "braces_around",
    "in_a_function",
    "matching",
    "place",
    "stretches",
    "tokens_of",
]

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\\n]|\\.)*)"([ 0-9]*)$', re.M)
_TOKEN = re.compile(
    r"""(?P<skip>^\#[^\n]*$)"""
    r"""|(?P<literal>(?:\b(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")"""
    r"""|(?:\bu8|\b[uUL])?"(?:\\.|[^"\\\n])*"|(?:\b(?:u8|[uUL])|(?<![\w]))'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)"""
    r"""|(?P<launch><<[ \t]*<)|(?P<sign>[^\s\w])""",
    re.S | re.M,
)
CLOSING = {")": "(", "]": "[", "}": "{"}
OPENING = {opening: closing for closing, opening in CLOSING.items()}
#: Characters of a submission's own text, tokens of a launch or declaration, and rewrites: bounds on the work
#: that a hostile source can make here.
_MOST_TEXT = 4 << 20
MOST_TOKENS = 5_000
#: GCC's flag for text of a system header, and as such our own are included.
_SYSTEM = "3"
Whose = Literal["own", "system", "emulator"]


@dataclass(frozen=True, slots=True)
class Refusal(Exception):
    """Something that the emulator has no meaning for.

    Attributes:
        message: What, as a clause.
        file: File of the submission.
        line: 1-based.
    """

    message: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, literal, launch's ``<<<`` or sign, by its place in the text."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(text: str, headers: str) -> list[Token]:
    """The submission's own tokens.

    Args:
        text: What ``g++ -E`` made of a CUDA source.
        headers: The folder of the emulator's headers.

    Raises:
        Refusal: There is too much of it.
    """
    found: list[Token] = []
    own = [(start, end) for start, end, whose in stretches(text, headers) if whose == "own"]
    if sum(end - start for start, end in own) > _MOST_TEXT:
        raise Refusal(f"a source of more than {_MOST_TEXT >> 20} MiB after preprocessing", "", 0)
    for start, end in own:
        for match in _TOKEN.finditer(text, start, end):
            kind = match.lastgroup or ""
            if match["skip"] is None:
                kind = "literal" if match["literal"] is not None else kind
                found.append(Token(kind, match[0], match.start(), match.end()))
    return found


def stretches(text: str, headers: str) -> Iterator[tuple[int, int, Whose]]:
    """Whose each part of the text is, neighbours of one kind joined.

    A submission can write line markers, so that its text poses as the system's; it cannot pose as the
    emulator's, whose folder it does not know.

    Args:
        text: What ``g++ -E`` made of a CUDA source.
        headers: The folder of the emulator's headers.

    Yields:
        Start, end, and whose: the submission's ``own``, the ``system``'s or what says so, the ``emulator``'s.
    """
    begun, last = 0, None
    for marker in _MARKER.finditer(text):
        whose = _whose(marker[2].removeprefix("./"), marker[3].split(), headers)
        if whose != last:
            if last is not None:
                yield begun, marker.start(), last
            begun, last = marker.end(), whose
    if last is not None:
        yield begun, len(text), last


def _whose(file: str, flags: Sequence[str], headers: str) -> Whose:
    if file.startswith(f"{headers}/"):
        return "emulator"
    # a file of the submission's may say of itself that it is the system's
    return "system" if file.startswith("<") or (_SYSTEM in flags and file.startswith("/")) else "own"


def place(text: str, at: int) -> tuple[str, int]:
    """File and line of an offset, by the marker before it."""
    last = None
    for marker in _MARKER.finditer(text, 0, at):
        last = marker
    if last is None:
        return "", 0
    return last[2], int(last[1]) + text.count("\n", last.end(), at) - 1


def matching(tokens: Sequence[Token], index: int) -> int | None:
    """Where the group that opens at ``index`` ends."""
    depth = 0
    for at in range(index, min(index + MOST_TOKENS, len(tokens))):
        if tokens[at].text in OPENING:
            depth += 1
        elif tokens[at].text in CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return None


def braces_around(tokens: Sequence[Token]) -> list[int]:
    """For each token the innermost brace around it, or -1."""
    around: list[int] = []
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.text == "}" and opened:
            opened.pop()
        around.append(opened[-1] if opened else -1)
        if token.text == "{":
            opened.append(at)
    return around


def in_a_function(tokens: Sequence[Token], brace: int) -> bool:
    """Whether a brace belongs neither to a namespace nor to ``extern "C"``."""
    if brace < 0:
        return False
    before = [token.text for token in tokens[max(0, brace - 8) : brace]]
    tail = before[len(before) - before[::-1].index("namespace") :] if "namespace" in before else None
    named = tail is not None and all(part.isidentifier() or part == ":" for part in tail)
    return not named and before[-1:] != ['"C"']
