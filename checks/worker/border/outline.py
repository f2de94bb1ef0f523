"""What a challenge's test files hold, read without any submission."""

from __future__ import annotations

import ast
import sys
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
    sys.meta_path.insert(0, Finder(Absent()))
    return {"files": [_file(root, file) for file in _test_files(root)], "names": _names(root)}


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


def _names(root: Path) -> list[str]:
    """Names that any of the author's test files takes from the submission."""
    found: set[str] = set()
    for path in sorted((root / "tests").rglob("*.py"))[:_MOST_FILES]:
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue
        found |= _taken(tree)
    return sorted(found)[:_MOST_NAMES]


def _taken(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    called: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == NAME and not node.level:
            found |= {alias.name for alias in node.names if alias.name != "*"}
        elif isinstance(node, ast.Import):
            called |= {alias.asname or alias.name for alias in node.names if alias.name == NAME}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            found.add(node.attr)
    return found
