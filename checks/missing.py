"""Modules that a submission needs and that are not here: nobody's failure, where that is true.

An exception says what whoever raises it likes. That a module is missing counts where a file of the submission
imports it, where a jail does not show it, and where no file says itself what Python says of a missing one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from judge_tui.checks.faults import Skipped
from judge_tui.checks.imports import imported
from judge_tui.checks.sandbox.packages import visible
from judge_tui.checks.sources import is_side_program, parsed, python_files
from judge_tui.checks.submission import Submission

__all__ = ["lacking", "lacking_framework", "named"]

_SAID = "No module named"
_NAMED = re.compile(rf"{_SAID} '(\w+)")
_KIND = "ModuleNotFoundError"


def lacking(submission: Submission, told: str, packages: Collection[str] = ()) -> Skipped | None:
    """That a submission needs a module which is not installed here; nothing where that is not so.

    Args:
        submission: The submission.
        told: What an exception said, or several of them.
        packages: What its jail shows beside NumPy, where that is installed.
    """
    names = [name for name in _NAMED.findall(told) if not visible(name, tuple(sorted(packages)))]
    wanted = set(_imported(submission)) if names else set[str]()
    name = next((name for name in names if name in wanted), "")
    if not name:
        return None
    return Skipped(f"needs {name}, which is not installed here → pip install {name}")


def lacking_framework(submission: Submission, kind: str, said: str, free: Collection[str]) -> Skipped | None:
    """The same of one exception, for a framework that the challenge leaves open.

    Args:
        submission: The submission.
        kind: The exception's class.
        said: Its text.
        free: Those frameworks.
    """
    return lacking(submission, said, free) if kind == _KIND and named(said) in free else None


def named(told: str) -> str:
    """The first module that a text says is missing; empty where it says so of none."""
    found = _NAMED.search(told)
    return found[1] if found else ""


def _says_so(tree: ast.Module) -> bool:
    """Whether a file has the words of that exception: it may have raised it for whatever reason."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and _SAID in text for text in texts)


def _imported(submission: Submission) -> Iterator[str]:
    """Modules that its files import wherever something may lead there; none where they are not believed."""
    trees = list(_trees(submission))
    if not any(map(_says_so, trees)):
        for tree in trees:
            yield from (each.name.partition(".")[0] for each in imported(tree) if not each.dead)


def _trees(submission: Submission) -> Iterator[ast.Module]:
    files = python_files(submission)
    for file in [file for file in files if not is_side_program(file)] or files:
        with suppress(SyntaxError):
            yield parsed(submission.read_bytes(file))
