"""What a submission says that it has: names that its code defines, and words in its prose.

An optional part that is only described is skipped; one that code is named after and that cannot be
bound is unbound. The difference is told here, from the sources alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from judge_tui.checks.faults import Skipped
from judge_tui.checks.lines import line_at
from judge_tui.checks.sources import is_side_program, is_test_file, parsed, python_files
from judge_tui.checks.submission import Submission

__all__ = ["Claim", "claims", "handling", "mentioned", "skipped"]

_TEXTS = (".py", ".md", ".markdown", ".txt", ".rst")


@dataclass(frozen=True, slots=True)
class Claim:
    """A class, function or method whose name says what it is.

    Attributes:
        file: Where it is.
        name: Qualified name.
        line: 1-based.
        arguments: Parameters that it takes, ``self`` left out.
    """

    file: str
    name: str
    line: int
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


def claims(submission: Submission, pattern: str, avoid: str = r"$^") -> list[Claim]:
    """Definitions whose own name, words apart and in lower case, a pattern finds.

    Args:
        submission: What is read; tests, demos and benchmarks are left out.
        pattern: A regular expression.
        avoid: Names that are something else.
    """
    wanted, other = re.compile(pattern), re.compile(avoid)
    return [
        claim
        for file in python_files(submission)
        if not is_side_program(file)
        for claim in _defined(submission, file)
        if wanted.search(words := _apart(claim.name)) and not other.search(words)
    ]


def handling(submission: Submission, pattern: str, beside: str = "") -> list[str]:
    """Classes and functions whose code handles something by name, whatever they are called themselves.

    Args:
        submission: What is read; tests, demos and benchmarks are left out.
        pattern: A regular expression on parameters, attributes, variables and keys, words apart and in
            lower case.
        beside: What one of its other names has to match.

    Returns:
        ``file:line name (the names)`` of definitions with two such names, the line being that of the
        first; a class stands for its methods.
    """
    found = []
    for file in python_files(submission):
        for node in [] if is_side_program(file) else _body(submission, file):
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            names: dict[str, int] = {}
            for line, name in sorted(_spoken(node)):
                names.setdefault(name, line)
            own = [name for name in names if re.search(pattern, _apart(name))]
            if len(own) > 1 and any(re.search(beside, _apart(name)) for name in names):
                found.append(f"{file}:{names[own[0]]} {node.name} ({', '.join(own[:4])})")
    return found


def _spoken(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines and names of parameters, attributes, variables and constant keys."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            yield inner.lineno, inner.arg
        elif isinstance(inner, ast.Attribute):
            yield inner.lineno, inner.attr
        elif isinstance(inner, ast.Name):
            yield inner.lineno, inner.id
        elif isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant):
            yield inner.lineno, str(inner.slice.value)


def _body(submission: Submission, file: str) -> list[ast.stmt]:
    try:
        return parsed(submission.read_bytes(file)).body
    except SyntaxError:
        return []


def _apart(name: str) -> str:
    own = name.rpartition(".")[2]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", own).lower()


def _defined(submission: Submission, file: str) -> Iterator[Claim]:
    for node in _body(submission, file):
        if isinstance(node, ast.ClassDef):
            yield Claim(file, node.name, node.lineno)
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    name = f"{node.name}.{inner.name}"
                    yield Claim(file, name, inner.lineno, _arguments(inner)[1:])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Claim(file, node.name, node.lineno, _arguments(node))


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    named = node.args
    return tuple(arg.arg for arg in (*named.posonlyargs, *named.args, *named.kwonlyargs))


def mentioned(submission: Submission, pattern: str) -> tuple[str, int] | None:
    """File and 1-based line of the first text that speaks of something; code before prose."""
    wanted = re.compile(pattern, re.I)
    named = [f for f in submission.files if f.endswith(_TEXTS) and not is_test_file(f)]
    for file in sorted(named, key=lambda name: (not name.endswith(".py"), name)):
        text = submission.read_text(file)
        if found := wanted.search(text):
            return file, line_at(text, found.start())
    return None


def skipped(submission: Submission, what: str, pattern: str) -> Skipped:
    """The reason why there is nothing to judge.

    Args:
        submission: What was looked through.
        what: What it lacks, as in "it has no …".
        pattern: What a description of it says.
    """
    place = mentioned(submission, pattern)
    if place is None:
        return Skipped(f"it has no {what}: an optional part of the challenge")
    file, line = place
    return Skipped(f"it has no {what} in code, only words about it ({file}:{line})", file=file, line=line)
