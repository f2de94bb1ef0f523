"""A challenge: a folder that somebody wrote, and what ``challenge.toml`` says of it.

The format is a promise (docs/challenges.md). The file itself is read by
:mod:`judge_tui.judging.challenges`, since TOML is none of the engine's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from judge_tui.checks.submission import Submission

__all__ = [
    "CASES",
    "NUMBERS",
    "OPEN",
    "PACKAGE",
    "TESTS",
    "Challenge",
    "Language",
    "Limits",
    "Settings",
    "kinds_of",
    "overlooked",
]

#: The file, and the folders, that make a challenge one of numbers, of behaviour, of programs.
NUMBERS, TESTS, CASES = "challenge.py", "tests", "cases"
#: Frameworks that answers may be built on, unless a challenge says otherwise.
OPEN = ("cupy", "jax", "torch", "triton")
#: What a Kattis package has.
PACKAGE = "problem.yaml"


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one call, test or case may take.

    Attributes:
        seconds: Wall time.
        memory: Bytes.
    """

    seconds: float = 10.0
    memory: int = 1 << 30


class Language(msgspec.Struct, frozen=True, omit_defaults=True):
    """How programs of a language are built and run.

    Attributes:
        files: Patterns of its files' names.
        build: Command line, with ``{main}`` and ``{out}``; empty where nothing is built.
        run: Command line, with ``{main}`` and ``{out}``.
        factor: By which the time limits are multiplied.
    """

    files: tuple[str, ...] = ()
    build: str = ""
    run: str = ""
    factor: float = 1.0


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What ``challenge.toml`` says, every key of it with a default.

    Attributes:
        title: For people; empty for the first heading or docstring line.
        entry: ``file.py:name`` of the callable, or the file of the module or program, where names do not
            suffice.
        compare: How what a program printed is held against the answer: ``tokens``, ``exact``, ``lines``,
            ``float 1e-6``.
        limits: Of a call, a test, a case.
        group_limits: Folder below ``cases/`` → its own limits.
        group_compare: Folder below ``cases/`` → its own ``compare``, as a Kattis package may say it.
        group_points: Folder below ``cases/`` → points for it, likewise.
        languages: Name → how its programs are built and run; of one that is known only what is said.
        process: Whether each test has a process of its own over there, or the tests of a file share one.
    """

    title: str = ""
    entry: str = ""
    compare: str = "tokens"
    limits: Limits = Limits()
    group_limits: dict[str, Limits] = {}
    group_compare: dict[str, str] = {}
    group_points: dict[str, float] = {}
    languages: dict[str, Language] = {}
    process: Literal["test", "file"] = "test"


class Challenge(msgspec.Struct, frozen=True, omit_defaults=True):
    """A challenge as the engine is asked to judge by it.

    Attributes:
        id: Task id: the folder's name.
        path: The folder.
        settings: What ``challenge.toml`` says.
    """

    id: str
    path: str
    settings: Settings = Settings()

    @property
    def folder(self) -> Submission:
        """Its files as the engine handles files: listed, digested, held in a snapshot, shown to a jail."""
        return Submission("", self.id, Path(self.path))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of :data:`NUMBERS`, :data:`TESTS` and :data:`CASES` it has; with none it is of no kind."""
        return kinds_of(self.folder.files)


def kinds_of(files: tuple[str, ...]) -> tuple[str, ...]:
    """Which kinds of challenge a folder's files make.

    Args:
        files: Relative POSIX paths.
    """
    has: Mapping[str, bool] = {
        NUMBERS: NUMBERS in files,
        TESTS: any(_is_test(file) for file in files),
        CASES: any(file.startswith(_places_of_cases(files)) and file.endswith(".in") for file in files),
    }
    return tuple(kind for kind, there in has.items() if there)


def overlooked(files: tuple[str, ...]) -> str:
    """What lies where a challenge is looked for and makes none, as a sentence; empty where nothing does.

    Args:
        files: Relative POSIX paths of a folder's files.
    """
    if kinds_of(files):
        return ""
    for folder, ending, wanted in ((TESTS, ".py", "test_*.py"), (CASES, "", "*.in")):
        if named := [file for file in files if file.startswith(f"{folder}/") and file.endswith(ending)]:
            return f"{folder}/ has no {wanted}: {named[0]} is taken for none."
    return ""


def _places_of_cases(files: tuple[str, ...]) -> tuple[str, ...]:
    """Folders that hold cases: also those of a Kattis package, which is read as it is."""
    return (f"{CASES}/", "data/sample/", "data/secret/") if PACKAGE in files else (f"{CASES}/",)


def _is_test(file: str) -> bool:
    name = file.rpartition("/")[2]
    named = name.startswith("test_") or name.endswith("_test.py")
    return file.startswith(f"{TESTS}/") and name.endswith(".py") and named
