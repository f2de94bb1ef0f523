"""What assertions of a test rest on: on data, or on the submission's own word.

After every ``assert`` of a challenge's file it is noted that it held. What a submission's own ``__eq__`` or
``__bool__`` answered while one was looked at counts against it.
"""

from __future__ import annotations

import ast
import builtins
import sys
from pathlib import Path
from typing import Any

from .specials import WORDS

__all__ = ["Assertions"]

__tracebackhide__ = True
_HELD = "@judge_held"
_MOST_WORDS = 20


class Assertions:
    """Counts of one test.

    Args:
        root: The challenge's folder.

    Attributes:
        own: Assertions that held by the submission's own word.
        data: Those that held without.
        words: Where, and what it was: (file, line, ``Class.__eq__``).
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._lines: dict[str, dict[int, int]] = {}
        self.clear()
        vars(builtins)[_HELD] = self.held

    def clear(self) -> None:
        """Another test."""
        self.own = self.data = 0
        self.words: list[tuple[str, int, str]] = []
        self._pending: set[tuple[str, int]] = set()

    def watched(self, tree: ast.Module, file: str) -> None:
        """Have every assertion of a file tell that it held.

        Args:
            tree: The file's; changed.
            file: Its path.
        """
        lines = self._lines[file] = {}
        for node in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                statements = getattr(node, name, None)
                if isinstance(statements, list):
                    setattr(node, name, _with_notes(statements, file, lines))
        ast.fix_missing_locations(tree)

    def held(self, file: str, line: int) -> None:
        """An assertion held."""
        if (file, line) in self._pending:
            self._pending.discard((file, line))
            self.own += 1
        else:
            self.data += 1

    def word(self, value: Any, name: str) -> None:
        """The submission's own word decided something: where an assertion is looked at, it rests on that."""
        if name not in WORDS:
            return
        frame: Any = sys._getframe(1)
        while frame is not None:
            file = frame.f_code.co_filename
            if (begins := self._lines.get(file, {}).get(frame.f_lineno)) is not None:
                self._pending.add((file, begins))
                self._note(file, begins, value, name)
            elif frame.f_code.co_name.startswith("assert") and file.endswith(
                ("/unittest/case.py", "utils.py")
            ):
                self.own += 1
                self._note("", 0, value, name)
                return
            frame = frame.f_back

    def _note(self, file: str, line: int, value: Any, name: str) -> None:
        note = (file.removeprefix(self._root).lstrip("/"), line, f"{type(value).__name__}.{name}")
        if note not in self.words and len(self.words) < _MOST_WORDS:
            self.words.append(note)


def _with_notes(statements: list[Any], file: str, lines: dict[int, int]) -> list[Any]:
    found: list[Any] = []
    for statement in statements:
        found.append(statement)
        if isinstance(statement, ast.Assert):
            last = statement.end_lineno or statement.lineno
            lines.update(dict.fromkeys(range(statement.lineno, last + 1), statement.lineno))
            arguments: list[ast.expr] = [ast.Constant(file), ast.Constant(statement.lineno)]
            note = ast.Expr(ast.Call(ast.Name(_HELD, ast.Load()), arguments, []))
            found.append(ast.copy_location(note, statement))
    return found
