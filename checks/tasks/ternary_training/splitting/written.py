"""How calls and names are written, and whether what is written gives the same again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from judge_tui.checks.tasks.ternary_training.figures import words
from judge_tui.checks.tasks.ternary_training.splitting.frames import Reading
from judge_tui.checks.tasks.ternary_training.splitting.randomness import DRAWS, MADE, Generator, is_named_so
from judge_tui.checks.tasks.ternary_training.splitting.rows import Value

__all__ = ["Evaluate", "argument", "dotted", "repeats"]

Evaluate: TypeAlias = "Callable[[Reading, ast.expr], Value]"
#: What gives something else each time.
_MOVING = frozenset(
    {"next", "input", "readline", "pop", "popleft", "time", "perf_counter", "uuid4", "urandom"}
)
_RANDOM = frozenset({"random", "rng", "gen", "generator", "prng", "rnd"})


def dotted(node: ast.expr) -> str:
    """``a.b.c`` as it is written; empty for anything else."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def argument(node: ast.Call, number: int, *names: str) -> ast.expr | None:
    """An argument by its place, or by one of its names."""
    if len(node.args) > number:
        return node.args[number]
    return next((keyword.value for keyword in node.keywords if keyword.arg in names), None)


def repeats(reading: Reading, node: ast.expr) -> bool:
    """Whether an expression gives the same where what it is made of is the same."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute) and not _is_still(reading, part):
            return False
        if isinstance(part, ast.Call) and not _call_repeats(reading, part.func):
            return False
    return True


def _is_still(reading: Reading, node: ast.Name | ast.Attribute) -> bool:
    """Whether a name holds no generator, and is not called as one is."""
    return not isinstance(reading.found(dotted(node)), Generator) and not is_named_so(node)


def _call_repeats(reading: Reading, func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name in MADE | {"seed"}:
        return True
    if name in _MOVING or words(dotted(func)) & _RANDOM or name in DRAWS:
        return False
    own = reading.frame.module.functions().get(name)
    return own is None or not reading.asked(_draws, own)


def _draws(function: ast.AST) -> bool:
    """Whether a function draws from what it does not seed itself."""
    called = [part.func for part in ast.walk(function) if isinstance(part, ast.Call)]
    names = {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in called}
    return bool(names & (DRAWS | {"normal", "standard_normal", "randn"})) and not names & (MADE | {"seed"})
