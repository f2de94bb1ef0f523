"""Which challenges a workspace has of its own, by the folders in ``challenges/``."""

from __future__ import annotations

import re
from os.path import exists, isdir
from pathlib import Path

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.installed import is_installed
from judge_tui.judging.folders import is_inside, readable_in
from judge_tui.judging.rubric import default_tasks

__all__ = [
    "CHALLENGES",
    "OWN",
    "challenge_folder",
    "challenge_ids",
    "challenge_of",
    "has_challenges",
    "odd_challenges",
]

CHALLENGES = "challenges"
#: A challenge's own rubric, in its folder.
OWN = "rubric.toml"
_ID = re.compile(r"[a-z0-9_-]+")
#: What a challenge's folder has some of; other folders may be called ``challenges`` as well.
_MARKS = ("challenge.py", "challenge.md", "challenge.toml", "tests", "cases", "problem.yaml")


def challenge_ids(root: Path) -> tuple[str, ...]:
    """Ids of the challenges that a workspace has of its own, sorted.

    Args:
        root: The workspace's folder.
    """
    names = readable_in(root / CHALLENGES, root)
    return tuple(name for name in names if _ID.fullmatch(name) and name not in default_tasks())


def has_challenges(root: Path) -> bool:
    """Whether a folder holds challenges of somebody's own, whatever else it holds.

    Args:
        root: The folder.
    """
    places = [root / CHALLENGES / name for name in challenge_ids(root)]
    return any(exists(place / mark) for place in places for mark in _MARKS)


def odd_challenges(root: Path) -> tuple[str, ...]:
    """What is wrong with folders of challenges that are none, a sentence each."""
    told: list[str] = []
    for name in readable_in(root / CHALLENGES, root):
        if not _ID.fullmatch(name):
            told.append(
                f"{CHALLENGES}/{name} is no challenge: a task's name is of small letters, digits, _ and -."
            )
        elif name in default_tasks():
            told.append(f"{CHALLENGES}/{name} is not used: {name} is a built-in task. Rename the folder.")
    return tuple(told)


def challenge_folder(root: Path, task: str) -> Path | None:
    """The folder of a challenge of the workspace's own; ``None`` where the task has none.

    One that a link leads out of the workspace to is none, and a built-in task is judged as it is built in.

    Args:
        root: The workspace's folder.
        task: The task's id.
    """
    path = root / CHALLENGES / task
    own = _ID.fullmatch(task) and task not in default_tasks() and isdir(path) and is_inside(path, root)
    return path if own else None


def challenge_of(root: Path, task: str) -> Challenge | None:
    """What a task of the user's own is judged by; ``None`` for one that is built in or installed.

    A task of which there are answers, and no challenge, is judged by what holds for all tasks.

    Args:
        root: The workspace's folder.
        task: The task's id.

    Raises:
        WorkspaceError: Its ``challenge.toml``, or the problem package that it is, is malformed.
    """
    if task in default_tasks():
        return None
    path = challenge_folder(root, task)
    if path is not None:
        return _described(path, task)
    return None if is_installed(task) else Challenge(task, str(root / CHALLENGES / task))


def _described(path: Path, task: str) -> Challenge:
    # a screen that has only built-in tasks pays nothing for it
    from judge_tui.judging.challenges.packages import package_in
    from judge_tui.judging.challenges.settings import FILE, read_settings

    package = package_in(path)
    base = None if package is None else package.settings
    return Challenge(task, str(path), read_settings(path / FILE, base))
