"""Which file of a submission a challenge's tests import as ``submission``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from judge_tui.checks.challenges.challenge import Settings
from judge_tui.checks.faults import Unbound
from judge_tui.checks.sources import is_side_program, outermost, parsed, python_files
from judge_tui.checks.submission import Submission

__all__ = ["defined", "entry_of"]


def entry_of(submission: Submission, settings: Settings, names: Sequence[str]) -> str:
    """The file that is the submission's module, or the ``__init__.py`` of its package.

    Args:
        submission: The submission.
        settings: The challenge's; what ``entry`` names wins.
        names: What the tests import.

    Raises:
        Unbound: None has what the tests import.
    """
    files = python_files(submission)
    if named := settings.entry.partition(":")[0]:
        for candidate in (named, f"{named.rstrip('/')}/__init__.py", f"{named}.py"):
            if candidate in files:
                return candidate
        raise _nothing(f"{named} is not there, which the challenge's entry names")
    candidates = [file for file in files if not is_side_program(file)] or list(files)
    if len(candidates) == 1:
        return candidates[0]
    wanted = set(names)
    having = {file: len(wanted & set(defined(submission, file))) for file in candidates}
    best = max(having.values(), default=0)
    if not candidates:
        raise _nothing("it has no Python file that the tests could import")
    if not best and wanted:
        listed = " and ".join(sorted(wanted)[:3])
        raise _nothing(
            f"none of its files has {listed}, which the tests import",
            [f"{file} has none" for file in candidates],
        )
    found = [file for file in candidates if having[file] == best]
    # a package that hands on what its modules have is what is meant by them
    return min(found, key=lambda file: (file.count("/"), not file.endswith("__init__.py"), file))


def _nothing(clause: str, seen: Sequence[str] = ()) -> Unbound:
    """That no file is what the tests import, in words."""
    fault = Unbound("submission", seen)
    fault.message = clause
    return fault


def defined(submission: Submission, file: str) -> Iterator[str]:
    """Names that a module has once it is imported, as far as its source says."""
    try:
        tree = parsed(submission.read_bytes(file))
    except SyntaxError:
        return
    for node in outermost(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and file.endswith("__init__.py"):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
