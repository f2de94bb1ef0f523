"""Constants of a Python file, read off its syntax tree: nothing of it runs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Value", "assigned", "evaluated", "functions", "globals_in", "names_in"]

#: A whole number, a truth value, a float or text, or a tuple of such.
Value = int | float | str | tuple[Any, ...]

_MOST_BITS = 128
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}
_GROWS = (ast.Pow, ast.LShift)


def evaluated(node: ast.expr, known: Mapping[str, Value]) -> Value | None:
    """What an expression of numbers and names is; ``None`` where only running it could tell.

    Args:
        node: The expression.
        known: Name → value.
    """
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (int, float, str)) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, (ast.Tuple, ast.List)):
        return _items(node.elts, known)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = evaluated(node.operand, known)
        return -value if isinstance(value, (int, float)) else None
    return _computed(node, known) if isinstance(node, ast.BinOp) else None


def _items(elements: list[ast.expr], known: Mapping[str, Value]) -> Value | None:
    found: list[Any] = []
    for element in elements:
        lone = element.value if isinstance(element, ast.Starred) else element
        value = evaluated(lone, known)
        if value is None:
            return None
        found += value if isinstance(element, ast.Starred) and isinstance(value, tuple) else [value]
    return tuple(found)


def _computed(node: ast.BinOp, known: Mapping[str, Value]) -> Value | None:
    left, right = evaluated(node.left, known), evaluated(node.right, known)
    compute = _OPERATORS.get(type(node.op))
    if compute is None or not (isinstance(left, int) and isinstance(right, int)):
        return None
    if isinstance(node.op, _GROWS) and not (0 <= right <= _MOST_BITS and abs(left) < 2**32):
        return None
    try:
        value = compute(left, right)
    except (ArithmeticError, ValueError):
        return None
    return value if isinstance(value, int) and value.bit_length() <= _MOST_BITS else None


def assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Names that statements of a block bind to an expression each, in their order.

    Args:
        body: The block.
    """
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield from _bound(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def _bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        if len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                yield from _bound(one, other)


def functions(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    """The functions of a block, the last one of each name.

    Args:
        body: The block.
    """
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def names_in(node: ast.AST) -> frozenset[str]:
    """Names that are read anywhere in a tree.

    Args:
        node: Its root.
    """
    return frozenset(
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    )


def globals_in(tree: ast.AST) -> frozenset[str]:
    """Names that functions in a tree read and do not bind themselves.

    Args:
        tree: Its root.
    """
    read: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            own = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            own |= {
                each.id
                for each in ast.walk(node)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
            read |= names_in(node) - own
    return frozenset(read)
