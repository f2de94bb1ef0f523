"""What a submission's own code does with the cache that a call gives: whether it hands it straight on.

A call may give the keys and values of the new tokens for its caller to join, or forget to join them itself.
The code that uses it tells the two apart: who writes ``y, cache = layer(x, cache)`` joins nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.sources import parsed, python_files
from judge_tui.checks.submission import Submission

__all__ = ["goes_straight_on"]

_CACHES = ("cache", "cache_k", "cache_v")


def goes_straight_on(submission: Submission, binding: Binding) -> bool:
    """Whether the submission, tests and demos included, hands a call the cache that it gave before."""
    return any(
        isinstance(given, ast.Name) and given.id in _names(statement)
        for file in python_files(submission)
        for statement, call in _calls(submission, file, binding.name.rpartition(".")[2])
        for given in _handed(call, binding)
    )


def _calls(submission: Submission, file: str, name: str) -> Iterator[tuple[ast.Assign, ast.Call]]:
    """Assignments of what a function or method of a name gives; of ``__call__``, of what anything gives."""
    try:
        tree = parsed(submission.read_bytes(file))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        called = node.value.func
        own = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in (own, "__call__"):
            yield node, node.value


def _handed(call: ast.Call, binding: Binding) -> Iterator[ast.expr]:
    """What a call is handed where the binding hands a cache, by its place or under its name."""
    for place, argument in enumerate(binding.args):
        if argument.source not in _CACHES:
            continue
        if place < len(call.args):
            yield call.args[place]
        yield from (each.value for each in call.keywords if each.arg and each.arg == argument.keyword)


def _names(statement: ast.Assign) -> set[str]:
    return {
        node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)
    }
