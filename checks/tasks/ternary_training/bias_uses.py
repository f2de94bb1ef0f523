"""Where a submission's source writes to the attribute that is a layer's bias, and who reads it besides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.sources import is_test_file, parsed, python_files

__all__ = ["BiasUses"]

#: Where a new layer gets its first bias.
_FIRST = frozenset({"__init__", "__post_init__", "build", "reset", "reset_parameters", "init_parameters"})


@dataclass(frozen=True, slots=True)
class BiasUses:
    """Attributes of a name, of whatever object.

    Attributes:
        stored: Whether something may write to it but for where it is made.
        elsewhere: Whether it is read outside the class of the layer.
    """

    stored: bool
    elsewhere: bool

    @classmethod
    def of(cls, bench: Bench, owner: str, name: str) -> BiasUses:
        """What the submission's files, tests left out, do with ``.name``; all of it where one is unread.

        Args:
            bench: Where the submission is loaded.
            owner: The layer's class.
            name: The attribute's; nothing is looked for where it is empty.
        """
        stored = elsewhere = False
        for file in python_files(bench.submission) if name else ():
            if is_test_file(file):
                continue
            try:
                tree = parsed(bench.submission.read_bytes(file))
            except SyntaxError:
                return cls(True, True)
            for node, inside, first in _walked(tree, owner):
                stored = stored or (not first and any(_is(each, name) for each in _written(node)))
                elsewhere = elsewhere or (not inside and _is(node, name))
        return cls(stored, elsewhere)


def _walked(tree: ast.AST, owner: str) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Every node, whether it stands in the class ``owner``, and whether where a new object is made."""
    waiting: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while waiting:
        node, inside, first = waiting.pop()
        if isinstance(node, ast.ClassDef):
            inside = node.name == owner
        if isinstance(node, ast.FunctionDef):
            first = node.name in _FIRST
        yield node, inside, first
        waiting.extend((child, inside, first) for child in ast.iter_child_nodes(node))


def _written(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement, or a call with ``out=``, writes to."""
    targets: list[ast.AST] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call):
        targets = [keyword.value for keyword in node.keywords if keyword.arg == "out"]
        if isinstance(node.func, ast.Name) and node.func.id == "setattr":
            targets += node.args[1:2]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("copyto", "subtract", "at"):
            targets += node.args[:1]
    for target in targets:
        yield from ast.walk(target)


def _is(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == name
    return isinstance(node, ast.Constant) and node.value == name
