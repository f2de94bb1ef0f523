"""Edits whose new piece stands elsewhere in the source: what one place lacks another often has.

An argument as another call of the same function has it, a value as the same name is set to elsewhere, a
statement of another method of the class. Source: the plastic surgery hypothesis (Barr et al., 2014).
"""

from __future__ import annotations

import ast

from judge_tui.checks.repair.edit import name_of
from judge_tui.checks.repair.scope import Scope
from judge_tui.checks.repair.slips import Made

__all__ = ["donors"]

#: So many are taken from elsewhere for one place.
_MOST, _MOST_WRITES = 6, 10


def donors(node: ast.AST, scope: Scope) -> Made:
    """Edits of a node that take a piece from elsewhere in the source.

    Args:
        node: What is edited.
        scope: What can be named there.
    """
    if isinstance(node, ast.Call):
        for at, one in enumerate(node.args):
            others = scope.arguments.get((name_of(node.func), at), ())
            for text in [other for other in others if other != ast.unparse(one)][:_MOST]:
                yield "another argument", one, text
    if isinstance(node, ast.Assign):
        others = scope.values.get(ast.unparse(node.targets[0]), ())
        for text in [other for other in others if other != ast.unparse(node.value)][:_MOST]:
            yield "another value", node.value, f"({text})"
    if isinstance(node, ast.FunctionDef):
        yield from _statements(node, scope)


def _statements(function: ast.FunctionDef, scope: Scope) -> Made:
    """Statements of other methods of its class, before its first one and behind its last one."""
    has = {ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.stmt)}
    texts = [text for text in scope.writes.get(scope.owner, ()) if text not in has]
    first, last = function.body[0], function.body[-1]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1:
        first = function.body[1]
    for text in texts[:_MOST_WRITES]:
        yield "statement added", first, f"{text}\n{_laid(first)}"
        if not isinstance(last, ast.Return) and last is not first:
            yield "statement added", last, f"{_laid(last).lstrip()}\n{_indent(last)}{text}"


def _indent(node: ast.stmt) -> str:
    return " " * node.col_offset


def _laid(node: ast.stmt) -> str:
    """The lines of a statement at its depth."""
    return _indent(node) + ast.unparse(node).replace("\n", "\n" + _indent(node))
