"""An edit of a Python source in one place, and what of a source is worth an edit."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Edit", "Text", "calls", "compiles", "left_alone", "name_of", "of_interest", "text_of"]

#: Where nothing is computed that anybody asks for.
_ASIDE = ("test", "main", "demo", "bench", "example", "check", "__repr__", "__str__")
_END = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Edit:
    """A source that differs from a right one in one place.

    Attributes:
        kind: What was done, in a word or two.
        line: Where, in the right source.
        statement: The line on which its statement begins.
        before: What stood there.
        after: What stands there now; empty where it was taken out.
        source: All of it.
    """

    kind: str
    line: int
    statement: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.line}: {self.kind}: {_short(self.before)} → {_short(self.after) or 'nothing'}"


class Text:
    """A source by its lines, as bytes: what :mod:`ast` counts columns in."""

    def __init__(self, source: str) -> None:
        self._all = source.encode()
        self._starts = [0, *(end.end() for end in _END.finditer(self._all))]

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        ends = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[ends[0] - 1] + ends[1]

    def of(self, node: ast.expr | ast.stmt) -> str:
        """What stands where a node is."""
        start, end = self._span(node)
        return self._all[start:end].decode()

    def spliced(self, node: ast.expr | ast.stmt, text: str) -> str:
        """All of it, with a text in a node's place."""
        start, end = self._span(node)
        return (self._all[:start] + text.encode() + self._all[end:]).decode()


def compiles(source: str) -> bool:
    """Whether it is Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "edited", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _short(text: str) -> str:
    return " ".join(text.split())


def of_interest(body: list[ast.stmt]) -> Iterator[tuple[ast.AST, int]]:
    """The nodes that compute what somebody asks for, and the line of the statement that each belongs to."""
    waiting: list[tuple[ast.AST, int]] = [(node, node.lineno) for node in body]
    while waiting:
        node, statement = waiting.pop()
        if left_alone(node):
            continue
        statement = node.lineno if isinstance(node, ast.stmt) else statement
        yield node, statement
        waiting += [(part, statement) for part in _parts(node)]


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.FunctionDef):
        return [*node.args.defaults, *(one for one in node.args.kw_defaults if one), *node.body]
    if isinstance(node, ast.AnnAssign):
        return [node.value] if node.value else []
    return [] if isinstance(node, ast.JoinedStr) else ast.iter_child_nodes(node)


def left_alone(node: ast.AST) -> bool:
    """Whether nothing is computed there that anybody asks for."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name.lower().lstrip("_").startswith(_ASIDE)
    if isinstance(node, ast.If):
        return "__name__" in ast.dump(node.test)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or calls(node.value, "print")
    return isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom)


def calls(node: ast.AST, name: str) -> bool:
    """Whether it is a call of a function of that name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def text_of(node: ast.AST) -> str:
    """A node's text, for a place where any expression binds as it stands."""
    text = ast.unparse(node)
    if isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript | ast.stmt):
        return text
    return f"({text})"


def name_of(func: ast.expr) -> str:
    """By which name something is called; empty where by none."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
