"""What a submission's source says of a causal mask: where a callable, or what it calls, speaks of one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import ADAPTER, Submission

__all__ = ["functions_of", "masking_of"]

_CAUSAL = re.compile(r"causal|tril|triu|^tri$", re.I)
#: Functions that are followed.
_MOST = 32


def masking_of(
    submission: Submission, binding: Binding, aside: Callable[[str], bool] = lambda _name: False
) -> tuple[str, int] | None:
    """Where a callable, or a function of its file that it calls, speaks of a causal mask.

    Args:
        submission: Whose callable it is.
        binding: How that is called.
        aside: Names of parameters that say nothing.

    Returns:
        File and line; ``None`` when it does not speak of one.
    """
    if binding.file == ADAPTER:
        return None
    functions = functions_of(submission, binding.file)
    todo, seen = [binding.name.rpartition(".")[2]], set[str]()
    while todo and len(seen) < _MOST:
        name = todo.pop(0)
        if name in seen:
            continue
        seen.add(name)
        for node in functions.get(name, ()):
            for word, line in _words(node):
                if _CAUSAL.search(word) and not aside(word):
                    # Where the mask is made says more than where it is asked for.
                    made = functions.get(word)
                    return binding.file, made[0].lineno if made else line
                todo.append(word)
    return None


def functions_of(submission: Submission, file: str) -> dict[str, list[ast.FunctionDef]]:
    """Name → functions and methods of a file."""
    try:
        tree = parsed(submission.read_bytes(file))
    except SyntaxError:
        return {}
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    return functions


def _words(node: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Parameters, what is called, and names that speak of a mask, with their lines."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            yield inner.arg, inner.lineno
        elif isinstance(inner, ast.Call):
            called = inner.func
            if isinstance(called, ast.Name):
                yield called.id, inner.lineno
            elif isinstance(called, ast.Attribute):
                yield called.attr, inner.lineno
        elif isinstance(inner, ast.Name) and _CAUSAL.search(inner.id):
            yield inner.id, inner.lineno
