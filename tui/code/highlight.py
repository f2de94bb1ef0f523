"""Which style each character of a file has, as far as it is in view.

:func:`read` runs in a thread: tree-sitter for Python, C, C++ and CUDA, Pygments for
every other language. The result answers for single lines at the speed of a scroll.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from judge_tui.tui.code.grammars import IDENTIFIER, STYLES, grammar_of, load, style_of_name
from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import Symbol
from judge_tui.tui.code.syntax import Syntax
from judge_tui.tui.code.text_lines import TextLines

__all__ = ["Highlight", "Highlighter", "read"]

_BLOCK = 16
_LONG_LINE = 4_000
_MAX_BYTES = 8_000_000
#: Characters per line above which a file is no program: a parser may take minutes for it.
_NO_PROGRAM = 100_000
_MAX_LEXED = 400_000
_STYLE_IDS = {name: number for number, name in enumerate(STYLES)} | {"plain": 0}


class Highlighter(Protocol):
    """Knows the style of every character of a line."""

    def styles(self, line: int) -> bytearray | None:
        """One style number per character; ``None`` for a line without any."""


class Highlight(Struct, frozen=True):
    """What a file's syntax gives: how to colour it, its outline, and its trees if its language has any."""

    highlighter: Highlighter | None
    symbols: tuple[Symbol, ...] = ()
    syntax: Syntax | None = None


def read(name: str, source: Source) -> Highlight:
    """Parse or lex a file; run it in a thread. Never raises: a file without highlighting is plain.

    Args:
        name: Name of the file, which tells the language.
        source: Its content.
    """
    if len(source.text) > min(_MAX_BYTES, _NO_PROGRAM * len(source)):
        return Highlight(None)
    try:
        grammar = grammar_of(name)
        return _parse(grammar, source) if grammar else _lex(name, source)
    except Exception:
        # a grammar that is not installed, or a lexer that trips over hostile text: plain text stands
        return Highlight(None)


def _parse(grammar: str, source: Source) -> Highlight:
    language, query = load(grammar)
    syntax = Syntax(source.lines, language)
    return Highlight(_TreeHighlighter(source.lines, syntax, grammar, query), syntax.symbols, syntax)


class _TreeHighlighter:
    """Queries the syntax of the lines that are looked at, a block at a time."""

    def __init__(self, lines: TextLines, syntax: Syntax, grammar: str, query: Any) -> None:
        self._lines, self._syntax = lines, syntax
        self._grammar, self._query = grammar, query
        self._blocks: dict[int, dict[int, bytearray]] = {}

    def styles(self, line: int) -> bytearray | None:
        block = line // _BLOCK
        if block not in self._blocks:
            if len(self._blocks) > 512:
                self._blocks.clear()
            self._blocks[block] = self._paint(block * _BLOCK)
        return self._blocks[block].get(line)

    def _paint(self, first: int) -> dict[int, bytearray]:
        length, last = self._lines.length, min(first + _BLOCK, len(self._lines))
        painted = {n: bytearray(length(n)) for n in range(first, last) if 0 < length(n) <= _LONG_LINE}
        texts = {n: self._lines[n] for n in painted}
        for low, high in _stretches(sorted(painted)):
            for root in self._syntax.roots(low, high):
                for _, _, style, node in self._captures(root, texts, low, high):
                    _fill(painted, range(first, last), texts, node, style)
        return painted

    def _captures(
        self, root: Any, texts: Mapping[int, str], low: int, high: int
    ) -> list[tuple[int, int, int, Any]]:
        from tree_sitter import QueryCursor

        cursor = QueryCursor(self._query, match_limit=4096)
        cursor.set_point_range((low, 0), (high + 1, 0))
        captures = cursor.captures(root)
        for node in captures.pop(IDENTIFIER, ()):
            if style := style_of_name(self._grammar, _spelling(node, texts)):
                captures.setdefault(style, []).append(node)
        names = sorted(captures, key=_precedence)
        captured = [
            (n.start_byte, n.end_byte, _STYLE_IDS.get(name, 0), n) for name in names for n in captures[name]
        ]
        # outer before inner; within one node the query's order, later patterns being the more exact
        return sorted(captured, key=lambda item: (item[0], -item[1]))


def _spelling(node: Any, texts: Mapping[int, str]) -> str:
    (row, column), (_, end) = node.start_point, node.end_point
    line = texts.get(row)
    return "" if line is None else line[_chars(line, column) : _chars(line, end)]


#: Of several styles of one node the last in this order shows.
_ORDER = ("operator", "string", "call", "builtin", "constant", "self", "type", "function", "decorator", "doc")


def _precedence(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else -1


def _stretches(lines: list[int]) -> list[tuple[int, int]]:
    """Runs of neighbouring numbers, as (first, last)."""
    runs: list[tuple[int, int]] = []
    for line in lines:
        if runs and line <= runs[-1][1] + 2:
            runs[-1] = (runs[-1][0], line)
        else:
            runs.append((line, line))
    return runs


def _fill(
    painted: dict[int, bytearray], block: range, texts: Mapping[int, str], node: Any, style: int
) -> None:
    (row, column), (end_row, end_column) = node.start_point, node.end_point
    for number in range(max(row, block.start), min(end_row + 1, block.stop)):
        cells = painted.get(number)
        if cells is None:
            continue
        start = _chars(texts[number], column) if number == row else 0
        end = _chars(texts[number], end_column) if number == end_row else len(cells)
        cells[start:end] = bytes((style,)) * (end - start)


def _chars(line: str, column: int) -> int:
    """Characters in the first ``column`` bytes of a line."""
    if line.isascii():
        return min(column, len(line))
    return len(line.encode("utf-8", "surrogateescape")[:column].decode("utf-8", "surrogateescape"))


class _LexedHighlighter:
    def __init__(self, painted: dict[int, bytearray]) -> None:
        self._painted = painted

    def styles(self, line: int) -> bytearray | None:
        return self._painted.get(line)


def _lex(name: str, source: Source) -> Highlight:
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    if len(source.text) > _MAX_LEXED:
        return Highlight(None)
    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return Highlight(None)
    painted: dict[int, bytearray] = {}
    row = column = 0
    for token, value in lexer.get_tokens(source.text):
        style = _style_of_token(token)
        for part in value.split("\n"):
            if column < 0:
                row, column = row + 1, 0
            if part and row < len(source):
                cells = painted.setdefault(row, bytearray(source.lines.length(row)))
                cells[column : column + len(part)] = bytes((style,)) * min(len(part), len(cells) - column)
            column += len(part)
            column = -1 - column
        column = -1 - column
    return Highlight(_LexedHighlighter(painted))


_TOKENS = (
    ("Keyword.Type", "type"),
    ("Keyword.Constant", "constant"),
    ("Keyword", "keyword"),
    ("Name.Function", "function"),
    ("Name.Class", "type"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "decorator"),
    ("Name.Decorator", "decorator"),
    ("Name.Builtin", "builtin"),
    ("Literal.String.Escape", "escape"),
    ("Literal.String.Doc", "doc"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Comment.Preproc", "decorator"),
    ("Comment", "comment"),
    ("Generic.Heading", "function"),
    ("Generic.Subheading", "function"),
    ("Generic.Strong", "keyword"),
    ("Generic.Emph", "doc"),
)


def _style_of_token(token: Any) -> int:
    path = ".".join(token)
    return next((_STYLE_IDS[style] for prefix, style in _TOKENS if path.startswith(prefix)), 0)
