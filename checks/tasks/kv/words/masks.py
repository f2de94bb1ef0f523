"""What a submission's source says of a causal mask: where a callable, or what it calls, speaks of one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.lines import split_lines
from judge_tui.checks.sources import parsed, source_text
from judge_tui.checks.submission import ADAPTER, Submission

__all__ = ["functions_of", "masking_of", "said_of", "texts_of"]

_CAUSAL = re.compile(r"causal|tril|triu|^tri$", re.I)
#: What a text says that is causal: attention, or a model; of a mask it may say as well that none is needed.
_SAID = re.compile(
    r"(?<!non[- ])(?<!not )(?<!no )\bcausal(ly)?[- ]"
    r"((multi-?head|masked|self|scaled|dot-product|decoder-only)[- ])*"
    r"(self-?attention|attention|decoder|transformer|language model|lm\b|model)",
    re.I,
)
#: Names of the places of queries, and of keys, which a causal mask compares.
_OF_QUERIES = re.compile(r"(?i)quer|^q_?(pos|idx|index|i)|(^|_)rows?($|_)")
_OF_KEYS = re.compile(r"(?i)key|^k_?(pos|idx|index|j)|(^|_)col(umn)?s?($|_)")
#: Functions that are followed.
_MOST = 32


def masking_of(
    submission: Submission,
    binding: Binding,
    aside: Callable[[str], bool] = lambda _name: False,
    *,
    compared: bool = False,
) -> tuple[str, int] | None:
    """Where a callable, or a function of its file that it calls, speaks of a causal mask.

    Args:
        submission: Whose callable it is.
        binding: How that is called.
        aside: Names of parameters that say nothing.
        compared: Whether places of queries and keys that are compared are one as well.

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
            if compared and (line := _compared(node)):
                return binding.file, line
            for word, line in _words(node):
                if _CAUSAL.search(word) and not aside(word):
                    # Where the mask is made says more than where it is asked for.
                    made = functions.get(word)
                    return binding.file, made[0].lineno if made else line
                todo.append(word)
    return None


def said_of(submission: Submission, binding: Binding) -> tuple[str, int] | None:
    """Where the text of a callable, or of its class, says that it is causal: file and line."""
    if binding.file == ADAPTER:
        return None
    try:
        tree = parsed(submission.read_bytes(binding.file))
    except SyntaxError:
        return None
    name = binding.name.rpartition(".")[2]
    for node in ast.walk(tree):
        inner = node.body if isinstance(node, ast.ClassDef) else []
        within = any(isinstance(each, ast.FunctionDef) and each.name == name for each in inner)
        if not within and not (isinstance(node, ast.FunctionDef) and node.name == name):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and _SAID.search(ast.get_docstring(node) or ""):
            return binding.file, node.lineno
    return None


def _compared(node: ast.FunctionDef) -> int:
    """The line on which places of queries and of keys are compared; 0 for none."""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Compare) or len(inner.ops) != 1:
            continue
        sides = [_named(inner.left), _named(inner.comparators[0])]
        ordered = isinstance(inner.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        if ordered and any(
            any(map(_OF_QUERIES.search, one)) and any(map(_OF_KEYS.search, other))
            for one, other in (sides, sides[::-1])
        ):
            return inner.lineno
    return 0


def _named(node: ast.expr) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def functions_of(submission: Submission, file: str) -> Mapping[str, list[ast.FunctionDef]]:
    """Name → functions and methods of a file."""
    return _functions(submission.read_bytes(file))


@lru_cache(maxsize=4)
def _functions(source: bytes) -> Mapping[str, list[ast.FunctionDef]]:
    try:
        tree = parsed(source)
    except SyntaxError:
        return {}
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    return functions


def texts_of(submission: Submission, binding: Binding) -> list[str]:
    """Source of the functions and methods of a callable's name in its file; none of an adapter's."""
    if binding.file not in submission.files:
        return []
    lines = split_lines(source_text(submission.read_bytes(binding.file)))
    nodes = functions_of(submission, binding.file).get(binding.name.rpartition(".")[2], [])
    return ["\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in nodes]


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
