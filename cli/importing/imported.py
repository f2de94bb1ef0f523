"""What a problem of somebody else comes to: the files of a challenge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from judge_tui.checks.errors import UsageError
from judge_tui.judging.rubric import default_tasks

__all__ = ["Imported", "task_id"]

_ID = re.compile(r"[a-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Imported:
    """A challenge that was made of a problem.

    Attributes:
        called: What the problem is called where it comes from, by its file or folder.
        files: Relative POSIX path → content; those of the problem are as they were.
        told: What whoever imports it has to know, a sentence each.
    """

    called: str
    files: Mapping[str, bytes]
    told: tuple[str, ...] = ()


def task_id(called: str, wanted: str = "") -> str:
    """The name of a challenge.

    Args:
        called: What the problem is called where it comes from.
        wanted: The name that was asked for; empty for one that is made of the other.

    Raises:
        UsageError: It is none, or that of a built-in task.
    """
    name = wanted or re.sub(r"[^a-z0-9-]+", "_", called.lower()).strip("_-")
    if not _ID.fullmatch(name):
        raise UsageError(
            f"'{name or called}' is no name of a challenge: it is of small letters, digits, _ and -.",
            hint="Say another with --as NAME.",
        )
    if name in default_tasks():
        raise UsageError(f"{name} is a built-in task.", hint="Say another name with --as NAME.")
    return name
