"""What a file imports, by statement or by call, and what stands around each import."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

__all__ = ["Imported", "imported"]

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Imported:
    """An import, and what stands around it.

    Attributes:
        name: The module.
        bound: The name that it is bound to; ``*`` where nobody can tell.
        line: 1-based.
        function: The function that it stands in, if any.
        optional: Whether it stands in a ``try``.
        branch: Whether it stands below a condition outside of functions.
        dead: Whether nothing leads there: ``if False``, behind a ``return``, for a type checker.
        main: Whether it stands in the ``__main__`` block.
    """

    name: str
    bound: str
    line: int
    function: str = ""
    optional: bool = False
    branch: bool = False
    dead: bool = False
    main: bool = False


def imported(tree: ast.Module) -> Iterator[Imported]:
    """Every import of a file, by statement or by call.

    Args:
        tree: The file.
    """
    yield from _block(tree.body, Imported("", "", 0))


def _block(body: Iterable[ast.stmt], around: Imported) -> Iterator[Imported]:
    for statement in body:
        yield from _statement(statement, around)
        if isinstance(statement, _ENDS):
            around = replace(around, dead=True)


def _statement(node: ast.stmt, around: Imported) -> Iterator[Imported]:
    if isinstance(node, _FUNCTIONS):
        # of one function in another the outer one is called
        yield from _block(node.body, around if around.function else replace(around, function=node.name))
    elif isinstance(node, ast.If):
        yield from _found(node.test, around)
        yield from _block(node.body, _below(node.test, around))
        yield from _block(node.orelse, replace(around, branch=True))
    elif isinstance(node, ast.Try):
        yield from _block(node.body, replace(around, optional=True))
        rest = [s for handler in node.handlers for s in handler.body]
        yield from _block([*rest, *node.orelse, *node.finalbody], around)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield replace(around, name=alias.name, bound=bound, line=node.lineno)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names if node.module and node.level == 0 else ():
            bound = alias.asname or alias.name
            yield replace(around, name=node.module or "", bound=bound, line=node.lineno)
    else:
        for field in ast.iter_child_nodes(node):
            yield from _statement(field, around) if isinstance(field, ast.stmt) else _found(field, around)


def _found(node: ast.AST, around: Imported) -> Iterator[Imported]:
    """Calls that import, in an expression or what holds statements."""
    if isinstance(node, ast.Call) and node.args and _called(node) in ("import_module", "__import__"):
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield replace(around, name=first.value, bound="*", line=node.lineno)
    for field in ast.iter_child_nodes(node):
        yield from _statement(field, around) if isinstance(field, ast.stmt) else _found(field, around)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _below(test: ast.expr, around: Imported) -> Imported:
    """What stands around statements below a condition."""
    if isinstance(test, ast.Constant) and not test.value:
        return replace(around, dead=True)
    if getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING":
        return replace(around, dead=True)
    sides = (test.left, *test.comparators) if isinstance(test, ast.Compare) else ()
    if any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides):
        return replace(around, main=True)
    return replace(around, branch=True)
