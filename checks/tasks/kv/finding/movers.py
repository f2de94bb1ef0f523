"""Functions that the source says move a cache's length on: by what they add to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from judge_tui.checks.sources import is_side_program, parsed, python_files
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.kv.words import roles

__all__ = ["adding"]

#: Functions that set a length without a step being over.
_ASIDE = re.compile(
    r"init|reset|clear|make|create|new|empty|trunc|roll|rewind|pop|free|release|crop|trim|drop"
)


def adding(submission: Submission, names: list[str]) -> Iterator[tuple[str, str]]:
    """Functions that add to one of these lengths and take no keys and values: no append of their own.

    Args:
        submission: What is read.
        names: Attributes or keys.

    Yields:
        The length, and the place that adds to it.
    """
    for file in python_files(submission):
        if is_side_program(file):
            continue
        try:
            tree = parsed(submission.read_bytes(file))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or _ASIDE.search(node.name) or _appends(node):
                continue
            for name in filter(None, dict.fromkeys(names)):
                for line in _additions(node, name):
                    yield name, f"{file}:{line} {node.name}"


def _appends(node: ast.FunctionDef) -> bool:
    """Whether it takes keys and values."""
    taken = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    wanted = [p for p in roles.BY_NAME["append"].params if p.name in ("k", "v")]
    return all(any(param.means(name) for name in taken) for param in wanted)


def _additions(node: ast.FunctionDef, name: str) -> Iterator[int]:
    """Lines in which something is added to what has this name, as attribute, key or keyword."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.op, ast.Add):
            if _mentions(inner.target, name):
                yield inner.lineno
        elif isinstance(inner, ast.Assign) and any(_mentions(target, name) for target in inner.targets):
            if _adds(inner.value):
                yield inner.lineno
        elif isinstance(inner, ast.keyword) and inner.arg == name and _adds(inner.value):
            yield inner.value.lineno
        elif isinstance(inner, ast.Dict):
            for key, value in zip(inner.keys, inner.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name and _adds(value):
                    yield value.lineno


def _mentions(target: ast.expr, name: str) -> bool:
    return any(
        (isinstance(part, ast.Attribute) and part.attr == name)
        or (isinstance(part, ast.Constant) and part.value == name)
        for part in ast.walk(target)
    )


def _adds(value: ast.expr) -> bool:
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add) for part in ast.walk(value))
