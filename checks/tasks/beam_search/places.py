"""Where in the source a cause can be seen: the penalty's power, the comparison with EOS."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from judge_tui.checks.sources import parsed
from judge_tui.checks.tasks.beam_search.searching import Search

__all__ = ["eos_place", "penalty_place"]


def penalty_place(search: Search) -> dict[str, Any]:
    """File and line of the first power whose exponent is the penalty; else of the search itself."""
    return _place(search, _is_power)


def eos_place(search: Search) -> dict[str, Any]:
    """File and line of the first comparison with the EOS id; else of the search itself."""
    return _place(search, _is_eos_test)


def _place(search: Search, wanted: Callable[[ast.AST], bool]) -> dict[str, Any]:
    submission, file = search.bench.submission, search.binding.file
    try:
        tree = parsed(submission.read_bytes(file))
    except (SyntaxError, OSError, KeyError):
        return search.where
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and wanted(node) and node.lineno >= 1
    ]
    return {"file": file, "line": min(lines)} if lines else search.where


def _names(node: ast.AST) -> str:
    words = [
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Name | ast.Attribute)
    ]
    return " ".join(words).lower()


def _is_power(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return bool(re.search(r"alpha|penal|\blp\b", _names(node.right)))
    called = isinstance(node, ast.Call) and re.search(r"pow(er)?$", _names(node.func))
    return bool(called and re.search(r"alpha|penal", _names(node)))


def _is_eos_test(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and bool(re.search(r"eos|end_?(id|tok)|stop", _names(node)))
