"""Edits that may undo a mistake: slips undone, and what wrong code mostly lacks or has too much of.

A slip undone is a slip as well. Beside those a name or an index is exchanged for another one that is at
hand, a start, a copy or a rounding up is added, a parenthesis or a statement moves, an operand goes.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Sequence

from judge_tui.checks.repair.edit import Edit, Text, name_of, of_interest, text_of
from judge_tui.checks.repair.scope import Scope, nearest, scopes
from judge_tui.checks.repair.slips import KINDS, Made

__all__ = ["mends"]

#: So many names, attributes and indices are tried in place of one, the most alike first.
_MOST_NAMES, _MOST_ATTRIBUTES, _MOST_INDICES = 6, 4, 6
#: Kinds that are tried first, and next: what people get wrong most often, and what has few ways to be edited.
_FIRST = frozenset({
    "comparison", "off by one", "condition dropped", "and for or", "rounded up", "parenthesis",
})  # fmt: skip
_NEXT = frozenset({
    "operator", "sign", "another name", "another index", "copied", "cleared", "constant",
    "arguments exchanged", "axes exchanged",
})  # fmt: skip
_NARROW = frozenset({"float16", "float32", "half", "single"})
#: Calls that may give a view of what they are given, and those whose arguments are axes.
_VIEWS = frozenset({"reshape", "transpose", "swapaxes", "ravel", "view", "asarray"})
_OF_AXES = frozenset({"reshape", "transpose"})
_COUNTS = frozenset({"range", "min", "max", "minimum", "maximum"})
#: A stand-in for infinity begins about here, and a small term ends here.
_HUGE, _SMALL = 1e4, 1e-2
_MOST_AXES = 5
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


def _copies(node: ast.AST, _scope: Scope) -> Made:
    """What is shared becomes a copy; what is written to in part is cleared before."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name | ast.Attribute):
        target = ast.unparse(node.target)
        read: ast.expr = ast.Name(target, ast.Load())
        yield "copied", node, f"{target} = {ast.unparse(ast.BinOp(read, node.op, node.value))}"
    if isinstance(node, ast.Assign) and isinstance(target_node := node.targets[0], ast.Subscript):
        cleared = f"{ast.unparse(target_node.value)}[...] = 0"
        yield "cleared", node, f"{cleared}\n{' ' * node.col_offset}{_laid(node, node)}"
    value = node.value if isinstance(node, ast.Assign | ast.Return) else None
    for one in value.elts if isinstance(value, ast.Tuple) else [value]:
        viewed = isinstance(one, ast.Call) and name_of(one.func) in _VIEWS
        if one is not None and (isinstance(one, ast.Name | ast.Attribute | ast.Subscript) or viewed):
            yield "copied", one, f"{text_of(one)}.copy()"
    if isinstance(node, ast.Call) and name_of(node.func) in {"append", "extend"} and node.args:
        yield "copied", node.args[0], f"{text_of(node.args[0])}.copy()"


def _arguments(node: ast.AST, _scope: Scope) -> Made:
    if not isinstance(node, ast.Call):
        return
    kind = "axes exchanged" if name_of(node.func) in _OF_AXES else "arguments exchanged"
    for turned in _turned(node.args):
        yield kind, node, ast.unparse(ast.Call(node.func, turned, node.keywords))
    for values in _turned([word.value for word in node.keywords]):
        words = [ast.keyword(word.arg, value) for word, value in zip(node.keywords, values, strict=True)]
        yield kind, node, ast.unparse(ast.Call(node.func, node.args, words))


def _turned(items: Sequence[ast.expr]) -> list[list[ast.expr]]:
    """The items with two neighbours exchanged, for each two that differ."""
    return [
        [*items[:at], items[at + 1], items[at], *items[at + 2 :]]
        for at in range(len(items) - 1)
        if ast.dump(items[at]) != ast.dump(items[at + 1])
    ]


def _axes(node: ast.AST, _scope: Scope) -> Made:
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) <= _MOST_AXES:
        if not any(isinstance(one, ast.Slice | ast.Starred) for one in node.elts):
            for turned in _turned(node.elts):
                yield "axes exchanged", node, ast.unparse(ast.Tuple(turned, ast.Load()))
    if isinstance(node, ast.keyword) and node.arg == "axis":
        for axis in (-1, 0, 1):
            yield "axes exchanged", node.value, str(axis)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        for one in (node.left, node.right):
            yield "axes exchanged", one, f"{text_of(one)}.T"


def _numbers(node: ast.AST, _scope: Scope) -> Made:
    if isinstance(node, ast.Attribute) and node.attr in _NARROW and isinstance(node.value, ast.Name):
        yield "constant", node, f"{node.value.id}.float64"
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
        for whole in (2 * node.value, node.value // 2, 0, 1):
            yield "constant", node, str(whole)
    if isinstance(node, ast.Constant) and type(node.value) is float:
        if node.value >= _HUGE:
            yield "constant", node, 'float("inf")'
        if 0 < node.value < _SMALL:
            yield "constant", node, "0.0"
    if isinstance(node, ast.Call) and name_of(node.func) == "where" and len(node.args) > 1:
        for one in node.args[1:]:
            yield "condition dropped", node, text_of(one)


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    """Its blocks of statements."""
    blocks = (getattr(node, name, None) for name in ("body", "orelse"))
    return [block for block in blocks if isinstance(block, list) and block and isinstance(block[0], ast.stmt)]


def _loops(node: ast.AST, _scope: Scope) -> Made:
    """What is set in a loop is set once before it, and what is set once in every turn."""
    for body in _bodies(node):
        for at, loop in enumerate(body):
            if not isinstance(loop, ast.For | ast.While):
                continue
            for one in loop.body[:-1] if len(loop.body) > 1 else ():
                if isinstance(one, ast.Assign | ast.AugAssign):
                    rest = _with_body(loop, [other for other in loop.body if other is not one])
                    yield "moved", loop, _after_each_other(loop, one, rest)
            before = body[at - 1] if at else None
            if isinstance(before, ast.Assign):
                inside = _with_body(loop, [before, *loop.body])
                yield "moved", _both(before, loop), _after_each_other(before, inside)


def _with_body(loop: ast.For | ast.While, body: list[ast.stmt]) -> ast.stmt:
    made = copy.copy(loop)
    made.body = body
    return made


def _after_each_other(like: ast.stmt, *statements: ast.stmt) -> str:
    return f"\n{' ' * like.col_offset}".join(_laid(one, like) for one in statements)


def _moved(node: ast.AST, _scope: Scope) -> Made:
    """Two statements in the other order."""
    for body in _bodies(node):
        for one, two in itertools.pairwise(body):
            if not isinstance(one, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom) and not (
                isinstance(two, ast.FunctionDef | ast.ClassDef | ast.Return) or _is_text(one)
            ):
                yield "moved", _both(one, two), _after_each_other(one, two, one)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _laid(node: ast.stmt, like: ast.stmt) -> str:
    """The lines of a statement at the depth of another, the first one bare."""
    return ast.unparse(node).replace("\n", "\n" + " " * like.col_offset)


def _both(one: ast.stmt, two: ast.stmt) -> ast.stmt:
    """What reaches from the beginning of a statement to the end of the next."""
    both = ast.copy_location(ast.Pass(), one)
    both.end_lineno, both.end_col_offset = two.end_lineno, two.end_col_offset
    return both


_MENDS: tuple[Callable[[ast.AST, Scope], Made], ...] = (
    _counts, _terms, _names, _indices, _copies, _arguments, _axes, _numbers, _loops, _moved,
)  # fmt: skip
