"""Problem packages of Kattis that stand in the place of a challenge: read as they are."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from judge_tui.checks.challenges.challenge import PACKAGE
from judge_tui.checks.challenges.programs.kattis import INI, TIME_LIMIT, Package, asked_for, package
from judge_tui.checks.errors import ChallengeFault, WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.checks.submission import Submission

__all__ = ["package_in"]

#: Bytes of the files that hold a lone time limit.
_SHORT = 1 << 16


def package_in(folder: Path) -> Package | None:
    """What the problem package in a folder says; ``None`` where there is none.

    Args:
        folder: The folder.

    Raises:
        WorkspaceError: It is malformed, or asks for what is not done here; with the file and the line.
    """
    # imported where a package is read: hardly any challenge is one
    from judge_tui.judging.challenges.yaml_files import parsed_yaml

    if not (folder / PACKAGE).is_file():
        return None
    listed = Submission("", folder.name, folder)
    problem = parsed_yaml(listed.read_bytes(PACKAGE), folder / PACKAGE)
    groups = {file: parsed_yaml(listed.read_bytes(file), folder / file) for file in asked_for(listed.files)}
    try:
        return package(problem, listed.files, groups, _texts(folder))
    except ChallengeFault as fault:
        # the same fault, with a path that can be opened
        told = _sentence(fault.message)
        file = folder / (fault.file or PACKAGE)
        raise WorkspaceError(told, hint=fault.hint, file=file, line=fault.line) from fault


def _texts(folder: Path) -> dict[str, str]:
    """What the files say that hold a time limit, one of which is hidden."""
    found: dict[str, str] = {}
    for name in (TIME_LIMIT, INI):
        with suppress(OSError), open_regular(folder / name) as file:
            found[name] = file.read(_SHORT).decode("utf-8", errors="replace")
    return found


def _sentence(told: str) -> str:
    return told if told.endswith(".") else f"{told}."
