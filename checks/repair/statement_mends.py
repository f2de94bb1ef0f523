"""Edits of whole statements: copies that are made, sums in place of assignments, statements that move."""

from __future__ import annotations

import ast
import copy
import itertools

from judge_tui.checks.repair.edit import name_of, text_of
from judge_tui.checks.repair.scope import Scope
from judge_tui.checks.repair.slips import Made

__all__ = ["STATEMENTS"]

#: Calls that may give a view of what they are given.
_VIEWS = frozenset({"reshape", "transpose", "swapaxes", "ravel", "view", "asarray"})


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


def _added(node: ast.AST, _scope: Scope) -> Made:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript | ast.Name):
        target = node.targets[0]
        yield "added, not assigned", node, ast.unparse(ast.AugAssign(target, ast.Add(), node.value))
    added = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
    if added and isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        # an index that comes twice is added once
        array, index, value = map(ast.unparse, (node.target.value, node.target.slice, node.value))
        yield "added, not assigned", node, f"np.add.at({array}, ({index}), {value})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        for value in ("0", "1"):
            yield "constant", node, value


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


STATEMENTS = (_copies, _added, _loops, _moved)
