"""The check ``forbidden``: what a challenge rules out, found through names and aliases, never in strings."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Mapping

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.numbers.names import Names
from judge_tui.checks.check import Check, Findings, check
from judge_tui.checks.sources import is_side_program, parsed, python_files
from judge_tui.checks.verdict import Verdict

__all__ = ["doubts", "forbidden", "uses"]

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.MatMult: "@", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
    ast.Mod: "%", ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^",
    ast.BitAnd: "&",
}  # fmt: skip
_OPERATOR = "operator:"
#: What runs a text as code.
_RUNNING = frozenset({"exec", "eval", "compile"})
_BUILT_IN = (list, dict, set, str, bytes, tuple, int, float)


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
        doubtful: list[str] = []
        for file in python_files(bench.submission):
            try:
                tree = parsed(bench.submission.read_bytes(file))
            except SyntaxError:
                continue
            if is_side_program(file):
                continue
            for name, line in uses(tree, names):
                used.append(f"{name} ({file}:{line})")
                found.claim(f"no {name}", False, measured="used", file=file, line=line)
            for what, line in doubts(tree, names):
                doubtful.append(f"{what} ({file}:{line})")
                found.claim(
                    "all of it can be read", False, measured=what, file=file, line=line,
                    otherwise=Verdict.WARN,
                )  # fmt: skip
        if doubtful and not used:
            return f"{', '.join(doubtful[:3])}: what that uses cannot be read"
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
    bare, defined = {name for name in dotted if _is_bare(name)}, _defined(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and _OPERATORS.get(type(node.op)) in operators:
            yield f"{_OPERATOR}{_OPERATORS[type(node.op)]}", node.lineno
        elif isinstance(node, ast.Call) or (
            isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
        ):
            # an attribute of what is ruled out is found at the outermost name
            full = names_of.full(node)
            if full in dotted or (full and full.rpartition(".")[2] in bare):
                yield full, node.lineno
            elif (method := _method(node, names_of)) and not _is_own(node, defined):
                yield from (
                    (name, node.lineno)
                    for name in sorted(dotted)
                    if _certain(name, method, names_of, defined)
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if f"{node.module}.{alias.name}" in dotted or (
                    alias.name == "*" and _below(node.module, dotted)
                ):
                    yield f"{node.module}.{alias.name}", node.lineno
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in dotted)


def doubts(tree: ast.Module, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """What a file does of which nobody can read whether it is ruled out, with its lines.

    Args:
        tree: The file.
        names: As in :func:`uses`.
    """
    names_of, defined = Names(tree), _defined(tree)
    dotted = sorted(name for name in names if not name.startswith(_OPERATOR))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = names_of.full(node.func)
        if function in _RUNNING and function not in dotted:
            yield f"runs a text by {function}", node.lineno
        elif function == "getattr" and len(node.args) > 1 and names_of.full(node.args[0]):
            if not isinstance(node.args[1], ast.Constant):
                yield f"gets of {names_of.full(node.args[0])} what no name says", node.lineno
        elif (method := _method(node, names_of)) and not _is_own(node, defined):
            alike = [name for name in dotted if name.rpartition(".")[2] == method and "." in name]
            if alike and not any(_certain(name, method, names_of, defined) for name in dotted):
                yield f"calls a method {method}, as {alike[0]} is called", node.lineno


def _method(node: ast.AST, names_of: Names) -> str:
    """The name of the method that a call calls; empty where it calls what was imported, or something else."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return ""
    return "" if names_of.full(node.func) else node.func.attr


def _certain(name: str, method: str, names_of: Names, defined: set[str]) -> bool:
    """Whether a method that is called can be nothing but what is ruled out: an array's, or a framework's."""
    top = name.partition(".")[0]
    if name.rpartition(".")[2] != method:
        return False
    if _is_bare(name):
        return True
    if method in defined or any(hasattr(kind, method) for kind in _BUILT_IN):
        return False
    return hasattr(np.ndarray, method) if top == "numpy" else top in names_of.modules


def _is_bare(name: str) -> bool:
    """Whether a name is ruled out wherever it comes from: it says no module, and is none of Python's own."""
    return "." not in name and not hasattr(builtins, name) and name not in sys.stdlib_module_names


def _is_own(node: ast.AST, defined: set[str]) -> bool:
    """Whether a call is of an object's own method that the file defines."""
    function = getattr(node, "func", None)
    owner = getattr(function, "value", None)
    return getattr(owner, "id", "") in ("self", "cls") and getattr(function, "attr", "") in defined


def _defined(tree: ast.Module) -> set[str]:
    """Names of the functions and methods that a file defines."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def _below(module: str, dotted: set[str]) -> bool:
    return any(name.startswith(f"{module}.") for name in dotted)
