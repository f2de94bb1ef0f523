"""Attempts: several answers of one model to one task, and how they are named.

The first answer is called as its model is, ``glm5``, and lies in ``<model>/<task>/``; the n-th is ``glm5@n``
and lies in ``<model>/<task>@<n>/``. Such a name stands wherever that of a model does.
"""

from __future__ import annotations

import re

__all__ = ["MOST", "SIGN", "attempt_name", "attempt_of", "attempt_title"]

#: Between a name and the number of the attempt.
SIGN = "@"
#: The highest number of an attempt.
MOST = 999_999
_LATER = re.compile(rf"(.+){SIGN}([1-9]\d{{0,5}})", re.DOTALL)


def attempt_of(name: str) -> tuple[str, int]:
    """A name without the number of its attempt, and that number: ``glm5@2`` is the second of ``glm5``.

    Args:
        name: Of a model, or of a task's folder; without a number it is the first.
    """
    found = _LATER.fullmatch(name)
    return (found[1], int(found[2])) if found and int(found[2]) > 1 else (name, 1)


def attempt_name(name: str, attempt: int) -> str:
    """The name with the number of an attempt behind it; the first has none."""
    return name if attempt == 1 else f"{name}{SIGN}{attempt}"


def attempt_title(title: str, attempt: int) -> str:
    """A model's display name for one of its attempts; the first has that of the model."""
    return title if attempt == 1 else f"{title} {SIGN}{attempt}"
