"""Slips of the hand, or of a model: one-edit mutants of a Python source."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from judge_tui.checks.repair.edit import Edit, Text, calls, compiles, name_of, of_interest, text_of

__all__ = ["KINDS", "Made", "edits"]

#: What was done, the node that is replaced, and by which text.
Made = Iterator[tuple[str, "ast.expr | ast.stmt", str]]

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_NAMES = {
    one: other
    for pair in (
        ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("amin", "amax"), ("any", "all"),
        ("zeros", "ones"), ("zeros_like", "ones_like"), ("floor", "ceil"), ("triu", "tril"),
        ("heappush", "heappushpop"), ("cumsum", "cumprod"), ("logical_and", "logical_or"), ("exp", "exp2"),
        ("sum", "mean"), ("append", "extend"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip
#: Calls whose argument, or whose object, can stand in their place: a copy that is not made any more.
_COPIES = frozenset({"copy", "array", "asarray", "ascontiguousarray", "deepcopy", "list", "tuple", "astype"})
_LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like"})
_TURNS = frozenset({"T", "mT"})
_TURNED = frozenset({"swapaxes", "transpose", "reversed", "sorted", "abs", "sqrt"})


def edits(source: str) -> list[Edit]:
    """All edits of a source, in the order of its lines; tests, examples and messages are left alone.

    Raises:
        SyntaxError: It is not Python.
    """
    tree = ast.parse(source)
    text = Text(source)
    found: dict[str, Edit] = {}
    for node, statement in of_interest(tree.body):
        for kind, at, after in itertools.chain.from_iterable(make(node) for make in KINDS):
            changed = text.spliced(at, after)
            if changed != source and compiles(changed):
                made = Edit(kind, at.lineno, statement, text.of(at), after, changed)
                found.setdefault(changed, made)
    return sorted(found.values(), key=lambda edit: edit.line)


def _comparisons(node: ast.AST) -> Made:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        turned = ast.Compare(node.left, [_COMPARED[type(node.ops[0])](), *node.ops[1:]], node.comparators)
        yield "comparison", node, text_of(turned)


def _operators(node: ast.AST) -> Made:
    if isinstance(node, ast.BinOp) and (other := _COMPUTED.get(type(node.op))):
        yield "operator", node, text_of(ast.BinOp(node.left, other(), node.right))
    if isinstance(node, ast.AugAssign):
        yield "assigned, not added", node, ast.unparse(ast.Assign([node.target], node.value, lineno=0))
        if other := _COMPUTED.get(type(node.op)):
            yield "operator", node, ast.unparse(ast.AugAssign(node.target, other(), node.value))
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield "sign", node, text_of(node.operand)


def _constants(node: ast.AST) -> Made:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield "constant", node, str(not value)
    elif isinstance(value, int):
        yield "off by one", node, str(value + 1)
        yield "off by one", node, f"({value - 1})"
    elif isinstance(value, float):
        yield "constant", node, repr(1.0 if value == 0 else 2 * value)


def _conditions(node: ast.AST) -> Made:
    if isinstance(node, ast.If | ast.IfExp):
        yield "condition inverted", node.test, f"not ({ast.unparse(node.test)})"
        yield "condition dropped", node.test, "True"
        yield "condition dropped", node.test, "False"
    if isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and for or", node, text_of(ast.BoolOp(other, node.values))
        for index in range(len(node.values)):
            rest = [value for at, value in enumerate(node.values) if at != index]
            yield "condition dropped", node, text_of(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])


def _calls_made(node: ast.AST) -> Made:
    if not isinstance(node, ast.Call):
        return
    if other := _NAMES.get(name_of(node.func)):
        named = (
            ast.Attribute(node.func.value, other, ast.Load())
            if isinstance(node.func, ast.Attribute)
            else ast.Name(other, ast.Load())
        )
        yield "another function", node.func, ast.unparse(named)
    name = name_of(node.func)
    if name in _COPIES | _TURNED:
        if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
            yield "not called", node, text_of(node.func.value)
        elif node.args:
            yield "not called", node, text_of(node.args[0])
    if name in _LIKE and node.args:
        yield "aliased", node, text_of(node.args[0])
    for index, (one, two) in enumerate(itertools.pairwise(node.args)):
        if isinstance(one, ast.Name) and isinstance(two, ast.Name):
            turned = [*node.args[:index], two, one, *node.args[index + 2 :]]
            yield "arguments swapped", node, ast.unparse(ast.Call(node.func, turned, node.keywords))


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"np", "numpy", "copy", "math"}


def _places(node: ast.AST) -> Made:
    if isinstance(node, ast.Attribute) and node.attr in _TURNS and isinstance(node.ctx, ast.Load):
        yield "not turned", node, text_of(node.value)
    if isinstance(node, ast.Slice):
        for end in (node.lower, node.upper):
            if end is not None and not isinstance(end, ast.Constant):
                yield "off by one", end, f"({ast.unparse(end)}) + 1"
                yield "off by one", end, f"({ast.unparse(end)}) - 1"
        if node.upper is not None and node.lower is not None:
            yield "bound dropped", node.lower, ""
            yield "bound dropped", node.upper, ""
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and calls(node.iter, "range"):
        yield "one turn less", node.iter, f"list({ast.unparse(node.iter)})[1:]"
        yield "one turn less", node.iter, f"list({ast.unparse(node.iter)})[:-1]"
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Name)
    ):
        yield "stale index", node.slice, f"({node.slice.id} - 1)"


def _statements(node: ast.AST) -> Made:
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Continue | ast.Break):
        yield "statement dropped", node, "pass"
    if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple):
        yield "statement dropped", node, "pass"
    if isinstance(node, ast.Continue):
        yield "another jump", node, "break"
    if isinstance(node, ast.Break):
        yield "another jump", node, "continue"


KINDS: tuple[Callable[[ast.AST], Made], ...] = (
    _comparisons, _operators, _constants, _conditions, _calls_made, _places, _statements,
)  # fmt: skip
