"""What leads to a line of a Python source: the condition, loop or function that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["guard"]

#: Characters of a piece of code in a sentence.
_MOST = 60


def guard(source: str, line: int) -> str:
    """The innermost statement in whose body a line stands, as a piece of code; empty where none is.

    Args:
        source: A Python source.
        line: The first line of a statement of it.

    Raises:
        SyntaxError: It is not Python.
    """
    said = ""
    for words, body in _bodies(ast.parse(source)):
        if body[0].lineno <= line <= (body[-1].end_lineno or 0):
            said = words
    return said if len(said) <= _MOST else f"{said[: _MOST - 1]}…"


def _bodies(tree: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Bodies of statements with what leads to each, outer ones before inner ones."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test, body, orelse):
                yield f"if {ast.unparse(test)}", body
                if orelse:
                    yield f"else of if {ast.unparse(test)}", orelse
            case ast.While(test, body):
                yield f"while {ast.unparse(test)}", body
            case ast.For(target, within, body):
                yield f"for {ast.unparse(target)} in {ast.unparse(within)}", body
            case ast.FunctionDef(name, _arguments, body):
                yield f"in {name}()", body
            case ast.ExceptHandler(_type, _name, body):
                yield "except", body
