"""What JSON must not say where the standard library reads it: a key twice, and what is no number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge_tui.checks.errors import WorkspaceError

__all__ = ["no_key_twice", "no_number"]


def no_key_twice(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these keys and values: of one that says a key twice, a word would be lost.

    Raises:
        WorkspaceError: A key stands twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise WorkspaceError(f"says '{twice:.40}' twice.", hint="Leave one of them.")
    return found


def no_number(text: str) -> float:
    """Refuse ``NaN`` and its like.

    Raises:
        ValueError: Always.
    """
    raise ValueError(text)
