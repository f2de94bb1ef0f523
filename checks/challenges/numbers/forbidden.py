"""The check ``forbidden``: what a challenge rules out, found through names and aliases, never in strings."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Check, Findings, check
from judge_tui.checks.sources import is_side_program, parsed, python_files

__all__ = ["forbidden", "uses"]

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.MatMult: "@", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
    ast.Mod: "%", ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^",
    ast.BitAnd: "&",
}  # fmt: skip
_OPERATOR = "operator:"


def forbidden(names: tuple[str, ...]) -> Check:
    """The check ``forbidden``.

    Args:
        names: Dotted names, and operators as ``operator:@``.
    """

    @check(
        "forbidden",
        "without what is ruled out",
        establishes=f"The answer does not use {', '.join(names)}.",
        host=True,
        apart=True,
    )
    def body(bench: Bench, found: Findings) -> str:
        used: list[str] = []
        for file in python_files(bench.submission):
            try:
                tree = parsed(bench.submission.read_bytes(file))
            except SyntaxError:
                continue
            for name, line in uses(tree, names) if not is_side_program(file) else ():
                used.append(f"{name} ({file}:{line})")
                found.claim(f"no {name}", False, measured="used", file=file, line=line)
        if not used:
            found.claim(f"no {', '.join(names)}", True, measured="not used")
            return f"none of {', '.join(names)} is used"
        return f"uses {', '.join(used[:3])}, which the challenge rules out"

    return body


def uses(tree: ast.Module, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Forbidden names that a file uses, with their lines.

    Args:
        tree: The file.
        names: Dotted names, and operators as ``operator:@``.
    """
    bound = _imported(tree)
    operators = {name.removeprefix(_OPERATOR) for name in names if name.startswith(_OPERATOR)}
    dotted = {name for name in names if not name.startswith(_OPERATOR)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and _OPERATORS.get(type(node.op)) in operators:
            yield f"{_OPERATOR}{_OPERATORS[type(node.op)]}", node.lineno
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            # an attribute of what is ruled out is found at the outermost name
            full = _full(node, bound)
            if full in dotted:
                yield full, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if f"{node.module}.{alias.name}" in dotted or (
                    alias.name == "*" and _below(node.module, dotted)
                ):
                    yield f"{node.module}.{alias.name}", node.lineno
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in dotted)


def _below(module: str, dotted: set[str]) -> bool:
    return any(name.startswith(f"{module}.") for name in dotted)


def _imported(tree: ast.Module) -> dict[str, str]:
    """Name in the file → what it stands for, by imports and plain assignments of such names."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for _ in range(3):
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                if full := _full(node.value, bound):
                    bound.setdefault(node.targets[0].id, full)
    return bound


def _full(node: ast.expr, bound: Mapping[str, str]) -> str:
    """The dotted name that an expression stands for; empty where it is none that was imported."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    if node.id not in bound:
        # what Python itself has, such as eval or sorted
        return node.id if not parts and hasattr(builtins, node.id) else ""
    return ".".join([bound[node.id], *reversed(parts)])
