"""Held-out figures of a submission's source whose sum is divided while it is still being summed.

Nothing is run: ``for batch in held_out: total += loss(batch); total /= batches`` divides what earlier batches
gave once more with every batch, so that little but the last one is left, over the number of batches.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.corpora import trees
from judge_tui.checks.tasks.ternary_training.evaluations import MEASURES
from judge_tui.checks.tasks.ternary_training.figures import Name, words

__all__ = ["Division", "divided"]

_Loop = ast.For | ast.AsyncFor | ast.While
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Division:
    """A division that stands in the loop that sums.

    Attributes:
        name: The sum.
        file: Where it stands.
        line: 1-based.
    """

    name: str
    file: str
    line: int


def divided(submission: Submission) -> Iterator[Division]:
    """Every sum of held-out figures that is divided within its own loop."""
    for file, tree in trees(submission):
        for loop, function in _loops(tree, ""):
            for name, line in _divisions(loop):
                if _is_held_out(name, function):
                    yield Division(name, file, line)


def _loops(node: ast.AST, function: str) -> Iterator[tuple[_Loop, str]]:
    """Every loop, with the name of the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Loop):
            yield child, function
        yield from _loops(child, child.name if isinstance(child, _Function) else function)


def _divisions(loop: _Loop) -> Iterator[tuple[str, int]]:
    """What a loop adds to and divides each time round, and does nothing else with, and where it divides."""
    body = list(_flat(loop.body))
    for index, statement in enumerate(body):
        name = _changed(statement, ast.Div)
        if not name or any(isinstance(each, ast.Break | ast.Return) for each in body[index:]):
            continue
        within = [node for each in loop.body for node in ast.walk(each)]
        writes = [node for node in within if name in _written(node)]
        if all(node is statement or _changed(node, ast.Add) == name for node in writes) and len(writes) > 1:
            yield name, statement.lineno


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run each time round, those under ``with`` among them."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With | ast.AsyncWith):
            yield from _flat(statement.body)


def _changed(node: ast.AST, by: type[ast.operator]) -> str:
    """What ``x += …``, or ``x = x + …``, changes so; nothing where it is divided by a number as it stands."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, by):
        name, other = ast.unparse(node.target), node.value
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, by):
        name, other = ast.unparse(node.targets[0]), node.value.right
        if len(node.targets) > 1 or ast.unparse(node.value.left) != name:
            return ""
    else:
        return ""
    return "" if by is ast.Div and isinstance(other, ast.Constant) else name


def _written(node: ast.AST) -> set[str]:
    """What a statement gives a new value."""
    match node:
        case ast.Assign():
            targets = node.targets
        case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.AsyncFor() | ast.NamedExpr():
            targets = [node.target]
        case ast.With() | ast.AsyncWith():
            targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
        case _:
            return set()
    return {
        ast.unparse(each) for target in targets for each in ast.walk(target) if isinstance(each, ast.expr)
    }


def _is_held_out(name: str, function: str) -> bool:
    """Whether a sum is one of held-out text, as its name or that of its function says."""
    own, home = Name.of((name,)), Name.of((function,))
    if "train" in (own.split, home.split):
        return False
    return "held-out" in (own.split, home.split) or bool(words(function) & MEASURES)
