"""Which file of a submission is looked at first."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["first_file"]

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
