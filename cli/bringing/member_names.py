"""Names of files that come from elsewhere: which of them lead to a place inside a submission."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from pathlib import PurePosixPath

from judge_tui.checks.submission import META

__all__ = ["free_name", "hidden_part", "module_name", "said", "spelled", "tidied", "why_not"]

_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST_PART, _LONGEST = 255, 1_000
_CACHES = frozenset({"__pycache__", "node_modules", "__MACOSX", "Thumbs.db", "desktop.ini"})
_CACHED = (".pyc", ".pyo")


def tidied(name: str) -> str:
    """A relative path without what says nothing: ``./a//b/`` is ``a/b``."""
    if name.startswith("/"):
        return name
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def why_not(name: str) -> str:
    """Why no file of a submission can have a name, as a clause; empty where one can.

    Args:
        name: A path as :func:`tidied` gives it.
    """
    if not name:
        return "it has no name"
    if name.startswith("/") or _DRIVE.match(name):
        return "its path is absolute"
    if "\\" in name:
        return "a backslash in its path"
    if ".." in name.split("/"):
        return "its path leads out"
    if not name.isprintable():
        return "control characters in its name"
    if len(name.encode()) > _LONGEST or any(len(part.encode()) > _LONGEST_PART for part in name.split("/")):
        return "its path is too long"
    return ""


def hidden_part(name: str) -> str:
    """The part of a path that is hidden or a cache, from its beginning; empty where none is."""
    parts = name.split("/")
    for depth, part in enumerate(parts, 1):
        if part.startswith(".") or part in _CACHES or part.endswith(_CACHED):
            return "/".join(parts[:depth])
    return ""


def said(name: str) -> str:
    """The name of a file as an answer or a notebook says it; empty where no file of theirs can have it.

    Args:
        name: As it is written; :data:`META` is whoever's who adds the answer.
    """
    name = tidied(name.strip("`\"'"))
    return "" if why_not(name) or hidden_part(name) or spelled(name) == META else name


def spelled(name: str) -> str:
    """What names share that one folder may not tell apart: those of another case, or composed otherwise."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def free_name(wanted: str, taken: Collection[str]) -> str:
    """A name that nothing has yet: the wanted one, else with a number behind its stem."""
    path = PurePosixPath(wanted)
    others = {spelled(name) for name in taken}
    name, number = wanted, 1
    while spelled(name) in others:
        number += 1
        name = str(path.with_name(f"{path.stem}_{number}{path.suffix}"))
    return name


def module_name(task: str) -> str:
    """A task's id as a module can be called."""
    name = re.sub(r"\W", "_", task)
    return f"_{name}" if name[:1].isdigit() else name
