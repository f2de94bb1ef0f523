"""Plain data that a submission answered with: parts of it, and what kind of thing it is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_tui.checks.faults import BadResult

__all__ = ["kind_of", "part_of"]


def part_of(value: Any, key: Any, what: str = "") -> Any:
    """A part of an answer.

    Args:
        value: The answer.
        key: Key or index.
        what: What was expected there, for the message; the key when left out.

    Raises:
        BadResult: It has no such part.
    """
    try:
        return value[key]
    except (LookupError, TypeError) as error:
        raise BadResult(
            f"answered with {kind_of(value)} where {what or f'{key!r} was a part of it'}"
        ) from error


def kind_of(value: Any) -> str:
    """What an answer is, in words that are short whatever it holds."""
    if isinstance(value, Mapping):
        return f"an object of {', '.join(map(str, list(value)[:6]))}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "nothing" if value is None else f"{value!r}"[:60]
