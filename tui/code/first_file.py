"""Which file of a submission is looked at first, and where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from judge_tui.tui.code.symbols import Symbol

__all__ = ["first_definition", "first_file"]

#: How files of programs end; what else a package holds describes it.
_CODE = (
    *(
        ".py",
        ".cu",
        ".cuh",
        ".cpp",
        ".cc",
        ".cxx",
        ".c",
        ".h",
        ".hpp",
        ".rs",
        ".go",
        ".java",
        ".kt",
        ".scala",
    ),
    *(".scala", ".js", ".mjs", ".ts", ".jl", ".hs", ".ml", ".zig", ".rb", ".swift", ".cs", ".f90", ".lua"),
)
#: What files of tests and demonstrations are called, and what makes a package or builds one.
_ASIDE = ("test", "demo", "bench", "example")
_MADE_BY = ("setup.py", "build.rs", "conftest.py", "noxfile.py")
#: What the main file of a package is called, in whatever language.
_MAIN = ("main", "lib", "answer", "solution", "index", "mod")


def first_file(files: Sequence[str], task: str) -> str:
    """The file to open first: code that is named after the task, else the main source, else the first."""

    def rank(name: str) -> tuple[bool, bool, bool, bool, int, str]:
        *folders, stem = name.lower().split("/")
        aside = any(word in stem for word in _ASIDE) or stem.startswith("__") or stem in _MADE_BY
        aside = aside or any(word in folder for folder in folders for word in _ASIDE)
        named = task.split("_", maxsplit=1)[0] in stem
        main = stem.partition(".")[0] in _MAIN
        return (not stem.endswith(_CODE), aside, not named, not main, len(folders), name)

    return min(files, key=rank)


#: Lines in which a definition is looked for before the outline of a file is known.
_MOST_LINES = 2_000
_DEFINES = re.compile(r"(?:async\s+def|def|class)\s+\w")
#: How lines begin that belong to the definition below them; in Python, comments as well.
_ABOVE, _COMMENT = ("@", "//", "/*", "*", "template"), "#"


def first_definition(lines: Sequence[str], symbols: Sequence[Symbol], file: str) -> tuple[int, int] | None:
    """Where a file begins to define something; ``None`` where that is nowhere, or not known yet.

    Args:
        lines: Its lines.
        symbols: Its definitions, as far as they are known.
        file: Its name.

    Returns:
        The 0-based line of the definition, and that of the comment or decorator that it begins with.
    """
    python = file.endswith(".py")
    found = next((symbol.line for symbol in symbols if symbol.kind != "namespace"), None)
    if found is None and python:
        # told at once, so that nothing moves once the outline is known
        found = next((n for n, line in enumerate(islice(lines, _MOST_LINES)) if _DEFINES.match(line)), None)
    if found is None or found >= len(lines):
        return None
    begins, above = found, (*_ABOVE, _COMMENT) if python else _ABOVE
    while begins and lines[begins - 1].lstrip().startswith(above):
        begins -= 1
    return found, begins
