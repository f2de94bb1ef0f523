"""The check ``forbidden``: what a challenge rules out, found through names and aliases, never in strings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.numbers.names import Names
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
    names_of = Names(tree)
    operators = {name.removeprefix(_OPERATOR) for name in names if name.startswith(_OPERATOR)}
    dotted = {name for name in names if not name.startswith(_OPERATOR)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and _OPERATORS.get(type(node.op)) in operators:
            yield f"{_OPERATOR}{_OPERATORS[type(node.op)]}", node.lineno
        elif isinstance(node, ast.Call) or (
            isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
        ):
            # an attribute of what is ruled out is found at the outermost name
            full = names_of.full(node)
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
