"""Whether a wrong answer is the right one of a call that has some of its inputs from another call."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TypeVar

__all__ = ["AFTER", "BEFORE", "STILL_THERE", "taken_from"]

_Input = TypeVar("_Input")
_Answer = TypeVar("_Answer")

#: Where what is not of this call comes from, in words.
STILL_THERE = (
    "right in the first call of a process, wrong behind another one, of which something is still there"
)
BEFORE, AFTER = "an earlier call of this shape", "a forward that came after its own"


def taken_from(
    made: _Answer,
    own: Mapping[str, _Input],
    other: Mapping[str, _Input],
    gives: Callable[[Mapping[str, _Input]], _Answer],
    alike: Callable[[_Answer, _Answer], bool],
    *,
    call: str = BEFORE,
) -> str:
    """Which inputs are those of another call, as a clause; the fewest that explain the answer.

    Args:
        made: The answer, which is wrong.
        own: Name of each input → what the call was given.
        other: The same of the other call.
        gives: The right answer to inputs.
        alike: Whether two answers are one.
        call: Which call the other one is, in words.

    Returns:
        Empty where no choice of inputs explains it.
    """
    if alike(made, gives(own)):
        return ""
    if alike(made, gives(other)):
        return f"it gives the answer of {call} again"
    for count in range(1, len(own)):
        for names in itertools.combinations(own, count):
            if alike(made, gives({**own, **{name: other[name] for name in names}})):
                told = ", ".join(names[:-1]) + " and " * (count > 1) + names[-1]
                return f"it uses {told} of {call} in place of its own"
    return ""
