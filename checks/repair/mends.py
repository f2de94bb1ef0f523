"""Edits that may undo a mistake: slips undone, and what wrong code mostly lacks or has too much of.

A slip undone is a slip as well. Beside those a name or an index is exchanged for another one that is at
hand, a start, a copy or a rounding up is added, a parenthesis or a statement moves, an operand goes.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable

from judge_tui.checks.repair.call_mends import CALLS
from judge_tui.checks.repair.donors import donors
from judge_tui.checks.repair.edit import Edit, Text, name_of, of_interest, text_of
from judge_tui.checks.repair.scope import Scope, nearest, scopes
from judge_tui.checks.repair.slips import KINDS, Made
from judge_tui.checks.repair.statement_mends import STATEMENTS

__all__ = ["mends"]

#: So many names, attributes and indices are tried in place of one, the most alike first.
_MOST_NAMES, _MOST_ATTRIBUTES, _MOST_INDICES = 6, 4, 6
#: Kinds that are tried first, and next: what people get wrong most often, and what has few ways to be edited.
_FIRST = frozenset({
    "comparison", "off by one", "condition dropped", "and for or", "rounded up", "parenthesis",
})  # fmt: skip
_NEXT = frozenset({
    "operator", "sign", "another name", "another index", "copied", "cleared", "constant",
    "arguments exchanged", "axes exchanged", "operand dropped", "not called", "added, not assigned",
    "another key", "another function", "argument dropped",
})  # fmt: skip
_COUNTS = frozenset({"range", "min", "max", "minimum", "maximum"})
_TURNS = 3


def mends(source: str, lines: frozenset[int] | None = None) -> tuple[list[Edit], ...]:
    """All edits of a source that may mend it: the likeliest, the next, and the others, each by their lines.

    Args:
        source: The source.
        lines: First lines of the statements that are edited; all where it is left out.

    Raises:
        SyntaxError: It is not Python.
    """
    tree = ast.parse(source)
    text, known = Text(source), scopes(tree)
    found: dict[str, tuple[int, int, Edit]] = {}
    for node, statement in of_interest(tree.body):
        if lines is not None and statement not in lines:
            continue
        scope = known.get(id(node), Scope())
        slips = (made for kind in KINDS for made in kind(node))
        further = (made for kind in _MENDS for made in kind(node, scope))
        for nth, (kind, at, after) in enumerate(itertools.chain(slips, further)):
            changed = text.spliced(at, after)
            if changed != source:
                edit = Edit(kind, at.lineno, statement, text.of(at), after, changed)
                found.setdefault(changed, (_turn(kind), nth, edit))
    ordered = sorted(found.values(), key=lambda one: (one[1], one[2].line))
    return tuple([edit for turn, _nth, edit in ordered if turn == wanted] for wanted in range(_TURNS))


def _turn(kind: str) -> int:
    return 0 if kind in _FIRST else 1 if kind in _NEXT else 2


def _names(node: ast.AST, scope: Scope) -> Made:
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node, ast.Name) and node.id in scope.names:
        for other in nearest(node.id, scope.names, _MOST_NAMES):
            yield "another name", node, other
        for other in scope.names:
            yield "a further name", node, other
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        for other in nearest(node.attr, scope.attributes.get(node.value.id, ()), _MOST_ATTRIBUTES):
            yield "another name", node, f"{node.value.id}.{other}"


def _indices(node: ast.AST, scope: Scope) -> Made:
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    yield "index dropped", node, text_of(node.value)
    of = text_of(node.value)
    for other in nearest(ast.unparse(node.slice), scope.indices, _MOST_INDICES):
        yield "another index", node, f"{of}[{other}]"
    for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        if isinstance(part, ast.Name):
            for name in scope.names:
                yield "another index", part, name
        if isinstance(part, ast.Slice) and not isinstance(node.slice, ast.Tuple):
            for name in scope.names:
                yield "another index", node, f"{of}[{name}]"
        if isinstance(part, ast.Name | ast.BinOp):
            yield from _by_one(part)


def _places(node: ast.AST, scope: Scope) -> Made:
    """Where something is in a whole: rests for quotients, and what is counted from another place."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv | ast.Mod):
        return
    other = ast.Mod() if isinstance(node.op, ast.FloorDiv) else ast.FloorDiv()
    yield "operator", node, text_of(ast.BinOp(node.left, other, node.right))
    for name in scope.names:
        yield "another name", node.right, name
        for sign in "+-":
            yield "shifted", node.left, f"({ast.unparse(node.left)} {sign} {name})"


def _by_one(node: ast.expr) -> Made:
    yield "off by one", node, f"{text_of(node)} + 1"
    yield "off by one", node, f"{text_of(node)} - 1"


def _counts(node: ast.AST, scope: Scope) -> Made:
    """Bounds by one more or less, divisions that round up, and a start that is not added to a count."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        yield "rounded up", node, f"(-(-{text_of(node.left)} // {text_of(node.right)}))"
    if isinstance(node, ast.Call) and name_of(node.func) in _COUNTS:
        for one in node.args:
            if not isinstance(one, ast.Constant | ast.Starred):
                yield from _by_one(one)
    if isinstance(node, ast.Call) and name_of(node.func) in {"arange", "len"}:
        for name in scope.names:
            yield "shifted", node, f"({name} + {ast.unparse(node)})"
    if isinstance(node, ast.Compare):
        right = node.comparators[-1]
        for name in scope.names:
            yield "shifted", right, f"{text_of(right)} + {name}"
            yield "shifted", right, f"{text_of(right)} - {name}"


def _terms(node: ast.AST, scope: Scope) -> Made:
    """Another grouping, ``a / b + c`` for ``a / (b + c)``; an operand less, and an eps more."""
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(inner := node.right, ast.BinOp):
        regrouped = ast.BinOp(ast.BinOp(node.left, node.op, inner.left), inner.op, inner.right)
        yield "parenthesis", node, f"({ast.unparse(regrouped)})"
    if isinstance(inner := node.left, ast.BinOp):
        regrouped = ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, node.op, node.right))
        yield "parenthesis", node, f"({ast.unparse(regrouped)})"
    yield "operand dropped", node, text_of(node.left)
    if isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        yield "operand dropped", node, text_of(node.right)
    if isinstance(node.op, ast.Div):
        for name in scope.names:
            if "eps" in name.lower():
                yield "term added", node.right, f"({ast.unparse(node.right)} + {name})"


_MENDS: tuple[Callable[[ast.AST, Scope], Made], ...] = (
    _counts, _terms, _names, _indices, _places, *CALLS, *STATEMENTS, donors,
)  # fmt: skip
