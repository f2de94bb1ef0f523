"""Beside which other sequences a step of one sequence is wrong, and whether their tokens reach it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from judge_tui.checks.faults import Fault

__all__ = ["beside_words"]

Array = npt.NDArray[Any]
#: The sequence that is looked at, and others that are shorter, as long, and longer.
_OWN, _OTHERS = 5, (("a shorter one", 3), ("one as long", 5), ("a longer one", 9))
#: Steps that all take.
_STEPS = 2


def beside_words(
    run: Callable[[Sequence[Array]], Array],
    draw: Callable[[int], Array],
    right: Callable[[Array, Array], bool],
) -> str:
    """What is seen, as the end of a sentence; empty where nothing is.

    Args:
        run: Feeds one prompt to each sequence but for its last tokens, and these in steps of all; the answers
            to the last, (B, W).
        draw: Draws the tokens of a sequence, (1, N) or (1, N, E).
        right: Whether an answer, (1, W), is that to some tokens alone.
    """
    own, wrong, reached = draw(_OWN + _STEPS), list[str](), False
    fine = list[str]()
    try:
        for first in (False, True):
            for words, length in _OTHERS:
                place = f"{words}{' that comes first' if first else ''}"
                other = draw(length + _STEPS)
                at = int(first)
                answer = run([other, own] if first else [own, other])[at : at + 1]
                if right(answer, own):
                    fine.append(place)
                    continue
                wrong.append(place)
                changed = draw(length + _STEPS)
                again = run([changed, own] if first else [own, changed])[at : at + 1]
                reached |= bool((again != answer).any())
    except Fault:
        return ""
    if not wrong or not fine:
        return f": {_reach(reached)}" if wrong else ""
    return f": right beside {_one_of(fine)}, wrong beside {_one_of(wrong)}; {_reach(reached)}"


def _one_of(places: list[str]) -> str:
    """The others, those that come first told where they alone are meant."""
    plain = [words for words in places if "first" not in words]
    return " or ".join(plain or places)


def _reach(reached: bool) -> str:
    return "the other's tokens reach it" if reached else "how long the other is reaches it, not its tokens"
