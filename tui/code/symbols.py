"""The outline of a file: functions and classes, from its syntax tree."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

__all__ = ["Symbol", "enclosing", "kinds", "outline", "paths"]

_KINDS = {
    "function_definition": "function",
    "class_definition": "class",
    "class_specifier": "class",
    "struct_specifier": "class",
    "union_specifier": "class",
    "namespace_definition": "namespace",
}
#: What definitions stand in without belonging to it.
_INTO = {
    "module",
    "translation_unit",
    "block",
    "decorated_definition",
    "declaration_list",
    "field_declaration_list",
    "template_declaration",
    "linkage_specification",
    "preproc_ifdef",
    "preproc_if",
    "preproc_elif",
    "preproc_elifdef",
    "preproc_else",
    "if_statement",
    "elif_clause",
    "else_clause",
    "try_statement",
    "except_clause",
    "except_group_clause",
    "finally_clause",
    "with_statement",
    "for_statement",
    "while_statement",
    "match_statement",
    "case_clause",
    "ERROR",
} | set(_KINDS)
#: More of them can neither be listed nor narrowed by typing while a finger is on a key.
_MOST = 20_000
#: So many names tell a definition from others of its name.
_NEAREST = 3
_BODIED = ("class_specifier", "struct_specifier", "union_specifier")
_NAME = re.compile(r"(?:.*\boperator\s*\(\s*\)|[^(]*)", re.S)


class Symbol(Struct, frozen=True):
    """A definition.

    Attributes:
        name: Its name.
        kind: ``function``, ``class`` or ``namespace``.
        line: 0-based first line.
        end: 0-based last line.
        depth: How many definitions enclose it.
    """

    name: str
    kind: str
    line: int
    end: int
    depth: int


def outline(nodes: Sequence[Any], found: list[Symbol]) -> bool:
    """Add the definitions in tree-sitter nodes, in the order of the file.

    Args:
        nodes: The nodes.
        found: What was found before them.

    Returns:
        Whether all of them were added; there is an end to how many are found in a file.
    """
    # an explicit stack: a hostile file nests deeper than Python recurses
    stack = [(node, 0) for node in reversed(nodes)]
    while stack:
        node, depth = stack.pop()
        kind = _KINDS.get(node.type)
        name = _name(node) if kind else ""
        if kind and name:
            if len(found) >= _MOST:
                return False
            found.append(Symbol(name, kind, node.start_point[0], node.end_point[0], depth))
            depth += 1
        if node.type in _INTO:
            stack += [(child, depth) for child in reversed(node.named_children)]
    return True


def enclosing(symbols: Sequence[Symbol], line: int) -> Iterator[int]:
    """Indices of the definitions that hold a line (0-based), the innermost first.

    Args:
        symbols: In the order of the file, as :func:`outline` finds them.
        line: The line.
    """
    for n in range(bisect_right(symbols, line, key=lambda symbol: symbol.line) - 1, -1, -1):
        if symbols[n].end >= line:
            yield n
        if symbols[n].depth == 0 and symbols[n].line < line:
            # what stands before it ended where it begins at the latest
            return


def paths(symbols: Sequence[Symbol]) -> Iterator[tuple[Symbol, tuple[str, ...]]]:
    """Each definition with its name behind those of the definitions that enclose it, the nearest few.

    Args:
        symbols: In the order of the file, as :func:`outline` finds them.
    """
    within: list[str] = []
    for symbol in symbols:
        within[symbol.depth :] = [symbol.name]
        # a hostile file nests thousands of them
        yield symbol, tuple(within[-_NEAREST:])


def kinds(symbols: Sequence[Symbol]) -> Iterator[str]:
    """What each definition is called: its kind, or ``method`` for a function of a class.

    Args:
        symbols: In the order of the file, as :func:`outline` finds them.
    """
    within: list[str] = []
    for symbol in symbols:
        within[symbol.depth :] = [symbol.kind]
        method = symbol.kind == "function" and within[-2:-1] == ["class"]
        yield "method" if method else symbol.kind


def _name(node: Any) -> str:
    named = node.child_by_field_name("name")
    if named is None:
        named = node.child_by_field_name("declarator")
        for _ in range(20):
            inner = named.child_by_field_name("declarator") if named is not None else None
            if inner is None:
                break
            named = inner
    if named is None or (node.type in _BODIED and not _has_body(node)):
        return ""
    text = bytes(named.text or b"").decode("utf-8", "surrogateescape")
    # the parameters are no part of a name, but for the brackets of an operator()
    found = _NAME.match(text)
    return found[0][:120] if found else ""


def _has_body(node: Any) -> bool:
    return node.child_by_field_name("body") is not None
