"""Names that a challenge's tests ask of an answer, held against those that its right answers have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from judge_tui.checks.challenges.behaviour.entry import defined
from judge_tui.checks.sources import parsed, python_files
from judge_tui.checks.submission import Submission

__all__ = ["unmet"]

_MODULE = "submission"
_WORD = re.compile(r"\w+")


def unmet(challenge: Submission, right: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Names that tests ask for and that occur nowhere in any right answer, each with a clause about it.

    Args:
        challenge: The challenge's folder.
        right: Folders of answers that must pass; where there is none, nothing is known.
    """
    answers = [Submission(path.name, challenge.task, path) for path in right]
    texts = [answer.read_text(file) for answer in answers for file in answer.files]
    written = {word for text in texts for word in _WORD.findall(text)}
    names = {name for each in answers for file in python_files(each) for name in defined(each, file)}
    seen: set[str] = set()
    for name, file, line in _asked(challenge) if answers else ():
        if name not in written and name not in seen:
            seen.add(name)
            near = get_close_matches(name, names, n=1)
            told = f"no right answer has it, and {file}:{line} asks for it"
            yield name, f"{told}; did you mean {near[0]}?" if near else told


def _asked(challenge: Submission) -> Iterator[tuple[str, str, int]]:
    """Names that the tests have of the answer's module, with file and line."""
    for file in python_files(challenge):
        if not file.startswith("tests/"):
            continue
        try:
            tree = parsed(challenge.read_bytes(file))
        except SyntaxError:
            continue
        yield from ((name, file, line) for line, name in sorted(_of_module(tree)))


def _of_module(tree: ast.Module) -> Iterator[tuple[int, str]]:
    called = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == _MODULE
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == _MODULE and not node.level:
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            yield node.lineno, node.attr
