"""Edits of calls and of what is handed over: arguments, axes, keys, numbers."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from judge_tui.checks.repair.edit import name_of, text_of
from judge_tui.checks.repair.scope import Scope, nearest
from judge_tui.checks.repair.slips import Made

__all__ = ["CALLS"]

#: So many other keys are tried in place of one, the most alike first.
_MOST_KEYS = 6
_NARROW = frozenset({"float16", "float32", "half", "single"})
#: Calls whose arguments are axes.
_OF_AXES = frozenset({"reshape", "transpose"})
#: A stand-in for infinity begins about here, and a small term ends here.
_HUGE, _SMALL = 1e4, 1e-2
_MOST_AXES = 5


def _calls(node: ast.AST, scope: Scope) -> Made:
    """A call that is one too many, another one in its place, and numbers that are cut off, not rounded."""
    if not isinstance(node, ast.Call):
        return
    for one in node.args:
        if not isinstance(one, ast.Constant | ast.Starred):
            yield "not called", node, text_of(one)
    for word in node.keywords:
        rest = [other for other in node.keywords if other is not word]
        yield "argument dropped", node, ast.unparse(ast.Call(node.func, node.args, rest))
    if name_of(node.func) in {"zeros_like", "ones_like", "empty_like"} and len(node.args) == 1:
        # the memory of what is alike is laid alike
        given, made = text_of(node.args[0]), name_of(node.func).removesuffix("_like")
        yield "copied", node, f"np.{made}({given}.shape, {given}.dtype)"
    if isinstance(node.func, ast.Name):
        for other in scope.functions.get(node.func.id, ()):
            yield "another function", node.func, other
    if name_of(node.func) in {"clip", "floor", "int", "trunc"} and node.args:
        yield "rounded", node.args[0], f"np.rint({ast.unparse(node.args[0])})"
    if name_of(node.func) == "full" and len(node.args) > 1:
        for start in ("-np.inf", "0.0", "1.0"):
            yield "constant", node.args[1], start


def _keys(node: ast.AST, scope: Scope) -> Made:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in scope.keys:
        for other in nearest(node.value, scope.keys, _MOST_KEYS):
            yield "another key", node, repr(other)


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


CALLS = (_calls, _keys, _arguments, _axes, _numbers)
