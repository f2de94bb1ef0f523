"""What a challenge is about, read off its files without running any of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from judge_tui.checks.challenges.challenge import CASES, NUMBERS, Challenge, kinds_of
from judge_tui.checks.challenges.programs.cases import groups_of
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.lines import split_lines
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import Submission
from judge_tui.judging.challenges.found import challenge_folder
from judge_tui.judging.challenges.packages import package_in

__all__ = ["STATEMENT", "Outline", "outline", "statement"]

STATEMENT = "challenge.md"
#: Functions of a ``challenge.py`` → the check that they make.
_MAKES = {"edge_cases": "edge_cases", "error_cases": "errors"}
_CONSTANTS = {"GRADIENTS": "gradients", "FORBIDDEN": "forbidden"}


class Outline(Struct, frozen=True):
    """What a challenge is about.

    Attributes:
        title: For people.
        kinds: Of :func:`~judge_tui.checks.challenges.challenge.kinds_of`.
        checks: Ids of its own checks, as far as its files tell them.
    """

    title: str
    kinds: tuple[str, ...]
    checks: tuple[str, ...]


def outline(challenge: Challenge) -> Outline:
    """What a challenge is about; one whose folder is missing or cannot be read is of no kind.

    Args:
        challenge: The challenge.
    """
    folder = challenge.folder
    try:
        listed = folder.files
    except WorkspaceError:
        return Outline(challenge.id, (), ())
    kinds = kinds_of(listed)
    title = challenge.settings.title or next(filter(None, _titles(folder)), challenge.id)
    return Outline(title, kinds, tuple(dict.fromkeys(_checks(folder, kinds))))


def statement(root: Path, task: str) -> str:
    """What a task asks for, in words: the challenge's own text, else the one that is shipped; may be empty.

    Args:
        root: The workspace's folder.
        task: The task's id.
    """
    path = challenge_folder(root, task)
    if path is None:
        shipped = files("judge_tui.checks.statements") / f"{task}.md"
        return shipped.read_text(encoding="utf-8") if shipped.is_file() else ""
    folder = Submission("", task, path)
    text = folder.read_text(STATEMENT) if (path / STATEMENT).is_file() else _of_package(folder)
    return text if text.strip() else _docstring(folder)


def _of_package(folder: Submission) -> str:
    """The statement of a problem package, as its file has it; what is wrong with one is told elsewhere."""
    with suppress(WorkspaceError):
        package = package_in(folder.path)
        return folder.read_text(package.statement) if package is not None and package.statement else ""
    return ""


def _titles(folder: Submission) -> Iterator[str]:
    if STATEMENT in folder.files:
        heads = (line for line in split_lines(folder.read_text(STATEMENT)) if line.startswith("#"))
        yield next(heads, "").lstrip("#").strip()
    yield _docstring(folder).strip().partition("\n")[0]


def _docstring(folder: Submission) -> str:
    tree = _tree(folder, NUMBERS) if (folder.path / NUMBERS).is_file() else None
    return (ast.get_docstring(tree) or "") if tree is not None else ""


def _tree(folder: Submission, file: str) -> ast.Module | None:
    try:
        return parsed(folder.read_bytes(file))
    except SyntaxError:
        return None


def _checks(folder: Submission, kinds: tuple[str, ...]) -> Iterator[str]:
    if NUMBERS in kinds:
        yield "accuracy"
        yield from _of_numbers(_tree(folder, NUMBERS))
    for file in folder.files:
        if kinds_of((file,)) and file.endswith(".py") and file != NUMBERS:
            yield from _of_tests(_tree(folder, file))
    if CASES in kinds:
        yield from (group.name for group in groups_of(folder.files))


def _of_numbers(tree: ast.Module | None) -> Iterator[str]:
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            if node.name.startswith("property_"):
                yield node.name
            elif node.name in _MAKES:
                yield _MAKES[node.name]
        elif isinstance(node, ast.Assign):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            yield from (check for name, check in _CONSTANTS.items() if name in names)


def _of_tests(tree: ast.Module | None) -> Iterator[str]:
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node.name
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from (
                each.name
                for each in node.body
                if isinstance(each, ast.FunctionDef) and each.name.startswith("test")
            )
