"""Lines of a submission's source that a finding points at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from judge_tui.checks.bench import Bench
from judge_tui.checks.sources import parsed

__all__ = ["assignment", "function", "place", "variance"]

_VARIANCE = (re.compile(r"var|sigma_?(2|sq)|^s2$|^v$", re.I), re.compile(r"std|sigma|rstd|inv|scale", re.I))


def place(bench: Bench, role: str, name: str) -> tuple[str, int]:
    """Where a returned thing is computed: its last assignment, else the callable itself.

    Args:
        bench: The submission.
        role: Who returns it.
        name: Its canonical name.
    """
    binding = bench.binding(role)
    item = next(r for r in bench.contract.by_name[role].returns if r.name == name)
    node = function(bench, role)
    lines = [line for target, line in assignment(node) if item.means(target)] if node is not None else []
    return binding.file, lines[-1] if lines else binding.line


def variance(bench: Bench) -> tuple[str, int]:
    """Where the forward computes its variance, as far as names tell."""
    binding, node = bench.binding("forward"), function(bench, "forward")
    targets = list(assignment(node)) if node is not None else []
    for pattern in _VARIANCE:
        for target, line in targets:
            if pattern.search(target):
                return binding.file, line
    return binding.file, binding.line


def function(bench: Bench, role: str) -> ast.FunctionDef | None:
    """The syntax tree of the callable that plays a role."""
    binding = bench.binding(role)
    try:
        tree = parsed(bench.submission.read_bytes(binding.file))
    except (SyntaxError, OSError):
        return None
    body: list[ast.stmt] = tree.body
    node: ast.stmt | None = None
    for part in binding.name.removesuffix("()").split("."):
        node = next(
            (s for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef) and s.name == part), None
        )
        if node is None:
            return None
        body = node.body
    return node if isinstance(node, ast.FunctionDef) else None


def assignment(node: ast.AST) -> Iterator[tuple[str, int]]:
    """(name, line) of everything that is assigned, attributes by their last name, in the source's order."""
    found: list[tuple[str, int]] = []
    for inner in ast.walk(node):
        targets = inner.targets if isinstance(inner, ast.Assign) else []
        if isinstance(inner, ast.AnnAssign | ast.AugAssign):
            targets = [inner.target]
        for target in targets:
            for item in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                name = _name(item)
                if name:
                    found.append((name, item.lineno))
    yield from sorted(found, key=lambda entry: entry[1])


def _name(item: ast.expr) -> str:
    while isinstance(item, ast.Subscript):
        if isinstance(item.slice, ast.Constant) and isinstance(item.slice.value, str):
            return item.slice.value
        item = item.value
    if isinstance(item, ast.Attribute):
        return item.attr
    return item.id if isinstance(item, ast.Name) else ""
