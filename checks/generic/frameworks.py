"""Whether something leads to where a file imports a framework that would answer the challenge for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from judge_tui.checks.contract import Contract
from judge_tui.checks.imports import Imported

__all__ = ["reached", "read_names"]


def read_names(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Names that are read anywhere, as variables, attributes or texts."""
    found: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.alias):
                found.add(node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                found.add(node.value)
    return frozenset(found)


def reached(
    each: Imported, file: str, names: frozenset[str], contract: Contract, missing: Mapping[str, list[str]]
) -> bool:
    """Whether something leads to an import: the file itself, another function, or a role.

    Args:
        each: The import.
        file: Where it stands.
        names: Names that the submission reads.
        contract: Whose roles are called.
        missing: Module → files that asked for it while all were imported.
    """
    if each.dead or each.main:
        return False
    top = each.name.partition(".")[0]
    if each.function or each.branch:
        if file in missing.get(top, ()):
            return True
        patterns = (pattern for role in contract.roles for pattern in role.patterns)
        called = each.function in names or any(re.search(p, each.function, re.I) for p in patterns)
        return bool(each.function) and called
    return True
