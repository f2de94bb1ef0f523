"""Where hooks of a submission decide what comes of its tests: what those tests come to without them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judge_tui.checks.generic.tested import IMPORT, Ending, Tested
from judge_tui.checks.sources import parsed, python_files
from judge_tui.checks.submission import Submission
from judge_tui.checks.worker.hooks import decides

__all__ = ["Hook", "named", "read", "settled"]

_MOST_NAMED = 2
#: File, 1-based line, name.
Hook = tuple[str, int, str]


def read(submission: Submission) -> list[Hook]:
    """Hooks that can decide, as far as they stand in the source by their names.

    Args:
        submission: Whose.
    """
    found: list[Hook] = []
    for file in python_files(submission):
        try:
            tree = parsed(submission.read_bytes(file))
        except SyntaxError:
            continue
        found += [(file, line, name) for line, name in _bound(tree) if decides(name)]
    return found


def _bound(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of all that is defined, imported or assigned."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((node.lineno, alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def named(hooks: Sequence[Hook]) -> str:
    """Hooks as a phrase: ``pytest_runtest_makereport (conftest.py:3)``."""
    each = list(dict.fromkeys(f"{name} ({file}:{line})" for file, line, name in hooks))
    more = len(each) - _MOST_NAMED
    return " and ".join(each[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def settled(first: Sequence[Tested], again: Mapping[str, Tested], hooks: Sequence[Hook]) -> Iterator[Tested]:
    """What came of the tests with hooks, where that is the same without; else that the hooks decide.

    Args:
        first: With them.
        again: Title → the same test without.
        hooks: Those.
    """
    by = f"by {named(hooks)}"
    for tested in first:
        told = _told(tested, again.get(tested.title))
        yield replace(tested, ending=Ending.OWN_RULES, told=f"{by} it {told}") if told else tested
    known = {tested.title for tested in first}
    # files of which nothing could be collected have been told of
    known |= {title for title in again for file in _lost(first) if title.startswith(f"{file}: ")}
    for title, tested in again.items():
        if title not in known and tested.ending is Ending.FAILED:
            yield replace(tested, ending=Ending.OWN_RULES, told=f"{by} it is left out; it {_of(tested)}")


def _told(tested: Tested, alone: Tested | None) -> str:
    """What hooks did to a test, as a clause; empty where they did nothing that counts."""
    if tested.ending is Ending.PASSED and (alone is None or alone.ending is not Ending.PASSED):
        return f"passes; without, it {'is not found' if alone is None else _of(alone)}"
    if tested.ending in (Ending.SKIPPED, Ending.EXPECTED) and alone is not None:
        # a mark in the test's own file says so too
        if alone.ending is Ending.FAILED and not alone.marked:
            return f"is {tested.ending}; without, it {_of(alone)}"
    return ""


def _lost(first: Sequence[Tested]) -> list[str]:
    """Files that failed, or said that they are left out, when they were imported."""
    return [tested.title.removesuffix(IMPORT) for tested in first if tested.title.endswith(IMPORT)]


def _of(tested: Tested) -> str:
    told = tested.told
    return f"{tested.ending}: {told}" if tested.ending is Ending.NOT_RUN else told or str(tested.ending)
