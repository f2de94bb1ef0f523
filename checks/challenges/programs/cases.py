"""The cases of a challenge: files that a program reads, the answers beside them, in groups by folder."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from judge_tui.checks.challenges.challenge import CASES, PACKAGE

__all__ = ["VALIDATOR", "Case", "Group", "groups_of"]

#: Where the cases of a Kattis package lie, and which folders there are cases.
_DATA, _SECTIONS = "data", ("sample", "secret")
VALIDATOR = "validator.py"
_INPUT, _ANSWER = ".in", ".ans"


class Case(Struct, frozen=True):
    """One case.

    Attributes:
        name: The file's, without folder and suffix.
        input: File of the challenge that the program reads; empty where there is none.
        answer: File that says what must come out; empty where there is none.
    """

    name: str
    input: str
    answer: str


class Group(Struct, frozen=True):
    """The cases of one folder.

    Attributes:
        name: The folder below ``cases/``, or ``cases`` for what lies there directly.
        cases: By name, numbers in their order.
        validator: The author's validator that is nearest to it; empty where there is none.
    """

    name: str
    cases: tuple[Case, ...]
    validator: str = ""


def groups_of(files: Iterable[str]) -> tuple[Group, ...]:
    """The groups of a challenge's cases, each folder that holds some.

    Args:
        files: Relative POSIX paths of the challenge's files.
    """
    every = frozenset(files)
    root = CASES
    if PACKAGE in every and not any(_is_case(file, CASES) for file in every):
        root = _DATA
    folders: dict[str, set[str]] = {}
    for file in every:
        if _is_case(file, root) and (root == CASES or file.split("/")[1] in _SECTIONS):
            folder, _slash, name = file.rpartition("/")
            folders.setdefault(folder, set()).add(name.rpartition(".")[0])
    return tuple(
        Group(
            folder.removeprefix(f"{root}/"),
            tuple(_case(folder, name, every) for name in sorted(names, key=_natural)),
            _nearest(folder, every),
        )
        for folder, names in sorted(folders.items(), key=lambda item: _natural(item[0]))
    )


def _is_case(file: str, root: str) -> bool:
    return file.startswith(f"{root}/") and file.endswith((_INPUT, _ANSWER))


def _case(folder: str, name: str, files: frozenset[str]) -> Case:
    place = f"{folder}/{name}"
    there = [f"{place}{suffix}" if f"{place}{suffix}" in files else "" for suffix in (_INPUT, _ANSWER)]
    return Case(name, *there)


def _nearest(folder: str, files: frozenset[str]) -> str:
    """The validator of a folder, or of one above it, the challenge's own last."""
    while True:
        if (file := f"{folder}/{VALIDATOR}" if folder else VALIDATOR) in files:
            return file
        if not folder:
            return ""
        folder = folder.rpartition("/")[0]


def _natural(name: str) -> list[tuple[int, int, str]]:
    """What names are sorted by: 2 stands before 10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"([0-9]+)", name)]
