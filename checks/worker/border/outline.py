"""What a challenge's test files hold, read without any submission."""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .assertions import Assertions
from .faces import NAME, Absent, Finder
from .gathering import Gathered, prepared
from .reported import Reported
from .rules import UnfitError

__all__ = ["alone", "outline"]

_MOST_FILES, _MOST_NAMES = 200, 500


def alone(library: Any) -> None:
    """Have the author's files imported as Python imports them, and ``submission`` mean no file of theirs."""
    if library in sys.meta_path:
        sys.meta_path.remove(library)
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


def outline(root: Path, library: Any) -> dict[str, Any]:
    """Tests by file, and the names that they import of the submission.

    Args:
        root: The challenge's folder.
        library: What imports files of a submission.

    Returns:
        ``files``: of each ``file`` and ``tests``, or ``fault`` and its place; ``names``; ``without`` where
        there is no pytest.
    """
    try:
        import pytest  # noqa: F401
    except ImportError as error:
        return {"without": str(error)}
    alone(library)
    prepared(root, Assertions(root))
    trees = list(_trees(root))
    names = sorted({name for tree in trees for name in _taken(tree)})[:_MOST_NAMES]
    modules = {module for tree in trees for module in _modules(tree)}
    sys.meta_path.insert(0, Finder(Absent(names, modules)))
    return {"files": [_file(root, file) for file in _test_files(root)], "names": names}


def _test_files(root: Path) -> list[str]:
    found = {path for pattern in ("test_*.py", "*_test.py") for path in (root / "tests").rglob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in found)[:_MOST_FILES]


def _file(root: Path, file: str) -> dict[str, Any]:
    reported = Reported(root)
    try:
        gathered = Gathered(root, file, reported)
    except (Exception, UnfitError, SystemExit) as error:
        return {"file": file, "tests": [], **reported.of_error(getattr(error, "__cause__", None) or error)}
    told = {"file": file, "tests": list(gathered.told()), **reported.of_collection()}
    gathered.close()
    return told


def _trees(root: Path) -> Iterator[ast.Module]:
    """Syntax trees of the author's test files, those that are beside them included."""
    for path in sorted((root / "tests").rglob("*.py"))[:_MOST_FILES]:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            yield ast.parse(path.read_bytes())


def _modules(tree: ast.Module) -> Iterator[str]:
    """Modules of the submission that a file imports."""
    for node in ast.walk(tree):
        named: list[str] = []
        if isinstance(node, ast.ImportFrom) and not node.level:
            named = [str(node.module)]
        elif isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        for name in named:
            parts = name.split(".")
            if parts[0] == NAME:
                yield from (".".join(parts[:count]) for count in range(2, len(parts) + 1))


def _unbound(tree: ast.Module) -> set[str]:
    """Names that a file uses and nowhere binds: what it has by ``import *``."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | set(vars(builtins))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return {node.id for node in names} - bound


def _taken(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    called: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == NAME and not node.level:
            found |= {alias.name for alias in node.names if alias.name != "*"} or _unbound(tree)
        elif isinstance(node, ast.Import):
            called |= {alias.asname or alias.name for alias in node.names if alias.name == NAME}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            found.add(node.attr)
    return found
