"""Which lines of a Python source run."""

from __future__ import annotations

import ast

__all__ = ["SEEN", "counting"]

#: Under what name a source that counts keeps the numbers of its lines that ran.
SEEN = "_lines_that_ran"


def counting(source: str) -> str:
    """The same source, which keeps the numbers of its lines that run under the name :data:`SEEN`.

    A file's own line numbers are those of the source; nothing else of it changes.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                setattr(node, name, [part for one in body for part in _counted(one, first=one is body[0])])
    at = next((i for i, one in enumerate(tree.body) if not _stays_first(one)), len(tree.body))
    tree.body.insert(at, ast.parse(f"{SEEN} = []").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def _stays_first(node: ast.stmt) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _counted(node: ast.stmt, *, first: bool) -> list[ast.stmt]:
    if (first and _stays_first(node)) or _stays_first(node):
        return [node]
    return [*ast.parse(f"{SEEN}.append({node.lineno}) if {node.lineno} not in {SEEN} else None").body, node]
