"""Fences of one language that have no names: which make one file together, and which repeat others."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from judge_tui.checks.sources import parsed
from judge_tui.cli.bringing.fences import Fence

__all__ = ["Joined", "defined", "elided", "joined"]

_MOST_COMPARED = 200
_ALIKE = 0.8
_BUSY = ("if", "for", "while", "switch", "return", "else", "sizeof", "defined")
_PYTHON_NAME = re.compile(r"^(?:async )?(?:def|class)[ \t]+(\w+)", re.M)
_WORD = re.compile(r"\w+")
_C_NAME = re.compile(r"([A-Za-z]\w*)[ \t]*\(")
_C_TYPE = re.compile(r"(?:struct|class|enum|union|namespace)[ \t]+(\w+)")
#: What stands for code that is not shown.
_ELIDED = re.compile(
    r"[ \t]*(?:#|//|/\*)?[ \t]*(?:\.\.\.|…)?[ \t]*\(?(?:"
    r"(?:the )?(?:rest|remaind\w+|remaining|existing|previous|other|same|unchanged)\b.{0,60}?"
    r"(?:code|unchanged|before|above|same|methods?|functions?|class|kernel|implementation|here)"
    r"|as before|unchanged|snip(?:ped)?)\b.{0,40}|[ \t]*(?:#|//)[ \t]*(?:\.\.\.|…)[ \t]*",
    re.I,
)


@dataclass(slots=True)
class Joined:
    """What becomes of some fences.

    Attributes:
        kept: Those that make the file, in order.
        examples: Those that use what the file has, and define nothing.
        left_out: Of those that are in neither, why.
    """

    kept: list[Fence] = field(default_factory=list)
    examples: list[Fence] = field(default_factory=list)
    left_out: list[tuple[Fence, str]] = field(default_factory=list)


def joined(fences: Sequence[Fence], suffix: str, beside: Sequence[Fence] = ()) -> Joined:
    """Sort fences into those that make one file, and the rest.

    Args:
        fences: Fences without names, all in one language, in order.
        suffix: Of that language.
        beside: Fences of the same language that are files of their own.
    """
    if not 1 < len(fences) + len(beside) <= _MOST_COMPARED:
        return Joined(kept=list(fences))
    found = Joined()
    pieces, files = ([_Piece(fence, suffix) for fence in some] for some in (fences, beside))
    for piece in pieces:
        others = [other for other in (*pieces, *files) if other is not piece]
        if why := _repeats(piece, others):
            found.left_out.append((piece.fence, why))
        elif piece.indented and not _goes_on(found.kept, piece.fence) and _has_code(others):
            found.left_out.append((piece.fence, "a part of something"))
        elif piece.uses_only and any(other.names & piece.words for other in others):
            found.examples.append(piece.fence)
        else:
            found.kept.append(piece.fence)
    return found if found.kept or beside else Joined(kept=list(fences))


class _Piece:
    """A fence, and what it defines."""

    def __init__(self, fence: Fence, suffix: str) -> None:
        self.fence = fence
        self.lines = [text for line in fence.lines if (text := line.strip())]
        self.distinct = frozenset(self.lines)
        python = suffix == ".py"
        self.names = defined(fence, suffix)
        self.words = frozenset(_WORD.findall(fence.text))
        self.excerpt = elided(fence)
        self.indented = python and _is_indented(fence)
        self.uses_only = not self.names and (_only_uses(fence.text) if python else not _is_head(self.lines))


def defined(fence: Fence, suffix: str) -> frozenset[str]:
    """Functions and types that code has at the margin.

    Args:
        fence: The code.
        suffix: Of its language.
    """
    return frozenset(_PYTHON_NAME.findall(fence.text)) if suffix == ".py" else _c_names(fence.lines)


def _is_indented(fence: Fence) -> bool:
    return next((line for line in fence.lines if line.strip()), "")[:1] in (" ", "\t")


def elided(fence: Fence) -> bool:
    """Whether a fence says of a part of its code only that it is elsewhere, or as before."""
    return any(len(line) < 160 and _ELIDED.fullmatch(line) for line in fence.lines)


def _repeats(piece: _Piece, others: Sequence[_Piece]) -> str:
    """Why a fence adds nothing to the others, as a clause; empty where it does."""
    for other in others:
        later = other.fence.first > piece.fence.first
        shared = sum(line in other.distinct for line in piece.lines)
        longer = len(other.lines) > len(piece.lines) or (len(other.lines) == len(piece.lines) and later)
        if longer and shared >= _ALIKE * len(piece.lines) and not other.excerpt:
            return f"it is in that of line {other.fence.line}"
        if later and not other.excerpt and piece.names and piece.names <= other.names:
            return f"line {other.fence.line} has it anew"
    known = frozenset().union(*(other.names for other in others if not other.excerpt))
    return "a part of something" if piece.excerpt and known and piece.names <= known else ""


def _has_code(others: Sequence[_Piece]) -> bool:
    return any(other.names and not other.excerpt for other in others)


def _goes_on(kept: Sequence[Fence], fence: Fence) -> bool:
    """Whether indented Python goes on with what stands before it: with a class, mostly."""
    if not kept:
        return False
    try:
        parsed(f"{kept[-1].text}\n{fence.text}".encode("utf-8", "replace"))
    except SyntaxError:
        return False
    return True


def _only_uses(text: str) -> bool:
    """Whether Python code runs something, beyond imports and assignments."""
    try:
        body = parsed(text.encode("utf-8", "replace")).body
    except SyntaxError:
        return False
    quiet = (ast.Import, ast.ImportFrom, ast.AnnAssign, ast.If, ast.Try, ast.Pass)
    return any(not isinstance(one, quiet) and not _is_quiet(one) for one in body)


def _is_quiet(one: ast.stmt) -> bool:
    if isinstance(one, ast.Assign):
        return not any(isinstance(node, ast.Call) for node in ast.walk(one.value))
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


def _c_names(lines: Sequence[str]) -> frozenset[str]:
    """Functions and types that begin at the margin, where nothing of C ends with a semicolon."""
    found: set[str] = set()
    for line in lines:
        text = line.rstrip()
        if (not text[:1].isalpha() and not text.startswith("__")) or len(text) > 300 or text.endswith(";"):
            continue
        names = [name for name in _C_NAME.findall(text) if name not in _BUSY]
        kind = _C_TYPE.match(text)
        found |= {kind[1]} if kind else set(names[:1])
    return frozenset(found)


def _is_head(lines: Sequence[str]) -> bool:
    """Whether code of the C family is what stands above definitions: includes, macros, types, constants."""
    quiet = (
        "#",
        "//",
        "/*",
        "*",
        "using ",
        "typedef ",
        "constexpr ",
        "const ",
        "static ",
        "extern ",
        "template",
        "}",
        "{",
    )
    return all(line.startswith(quiet) for line in lines)
