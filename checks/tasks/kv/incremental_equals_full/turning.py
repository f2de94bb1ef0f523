"""From which length on answers are wrong: halved between one at which they are right and one at which not."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["from_where", "turning"]


def turning(wrong: Callable[[int], bool], right: int, bad: int) -> int:
    """A length that is wrong though the one below it is right.

    Args:
        wrong: Whether answers at a length are wrong.
        right: A length at which they are right.
        bad: A longer one at which they are wrong.
    """
    while bad - right > 1:
        middle = (right + bad) // 2
        right, bad = (right, middle) if wrong(middle) else (middle, bad)
    return bad


def from_where(wrong: Callable[[int], bool], right: int, bad: int) -> tuple[int, str]:
    """The turning, and its words; the next length tells whether it is wrong there alone."""
    first = turning(wrong, right, bad)
    alone = first < bad - 1 and not wrong(first + 1)
    on = f"at {first}" if alone else f"from {first} on"
    return first, f"right up to {first - 1} token{'s' * (first != 2)}, wrong {on}"
