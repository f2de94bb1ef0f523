"""What names stand in a ``challenge.py``, with their lines: as it is written, without running it."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from judge_tui.checks.sources import outermost, parsed

__all__ = ["FUNCTIONS", "PROPERTY", "Misspelt", "Written"]

#: Functions that mean something there.
FUNCTIONS = ("reference", "inputs", "check", "edge_cases", "error_cases", "gradients")
#: What every claim's name begins with.
PROPERTY = "property_"
_VALUES = (
    "CASES", "NAMES", "ALIASES", "RESULTS", "DTYPES", "TOLERANCE", "GRADIENTS", "BENCH", "FORBIDDEN",
    "FRAMEWORKS", "PACKAGES", "SEED", "PURE",
)  # fmt: skip
_KNOWN = {name.lower(): name for name in (*_VALUES, *FUNCTIONS)}
_PROPERTY_LIKE = re.compile(r"prop[a-z]{3,6}_")
_CLOSE = 0.85
_WORD = re.compile(r"\w+")

#: A name, its line, and what it was probably meant to be.
Misspelt = tuple[str, int, str]


class Written:
    """The names of one ``challenge.py``.

    Args:
        source: Its bytes; of what does not parse nothing is known.
    """

    def __init__(self, source: bytes) -> None:
        try:
            tree = parsed(source)
        except SyntaxError:
            tree = ast.Module([], [])
        self._lines = dict(_defined(tree))
        names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
        self._read = {name.id for name in names if isinstance(name.ctx, ast.Load)}

    def line(self, name: str) -> int | None:
        """The line on which a name is given its meaning; ``None`` where it is not."""
        return self._lines.get(name)

    def about(self, message: str) -> int | None:
        """The line of what a message is about: of the first name in it that means something here."""
        words = (word for word in _WORD.findall(message) if _means(word))
        return next((self._lines[word] for word in words if word in self._lines), None)

    def misspelt(self) -> Iterator[Misspelt]:
        """Names that mean nothing, and nearly something; what the file itself reads means something there."""
        for name, line in self._lines.items():
            if name not in self._read and (meant := _meant(name)):
                yield name, line, meant

    def meant_for(self, *names: str) -> Misspelt | None:
        """What was probably meant to be one of some names that are not there; ``None`` where nothing is."""
        near = ((name, line, _meant(name)) for name, line in self._lines.items())
        return next((each for each in near if each[2] in names), None)


def _means(name: str) -> bool:
    return name in FUNCTIONS or name in _VALUES or name.startswith(PROPERTY)


def _meant(name: str) -> str:
    """What a name that means nothing was probably meant to be; empty where it is like nothing known."""
    if _means(name) or name.startswith("_"):
        return ""
    if _PROPERTY_LIKE.match(name.lower()):
        return "property_…"
    near = difflib.get_close_matches(name.lower(), _KNOWN, n=1, cutoff=_CLOSE)
    if not near:
        return ""
    return near[0].upper() if name.isupper() and near[0].upper() in _VALUES else _KNOWN[near[0]]


def _defined(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that statements of the module give a meaning, those under conditions too."""
    for node in outermost(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((each.id, node.lineno) for each in targets if isinstance(each, ast.Name))
