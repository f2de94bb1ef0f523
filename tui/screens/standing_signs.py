"""How the screen tells that the place of a note is not certain."""

from __future__ import annotations

from judge_tui.judging.placing import Placed
from judge_tui.tui.widgets.code_lines import DOUBT, LOST

__all__ = ["STANDINGS", "told_of"]

#: Signs of what is not certain.
STANDINGS = {"changed": LOST, "gone": LOST, "doubt": DOUBT}


def told_of(placed: Placed) -> str:
    """What is to be known of the place of a note, with its sign; empty where it is certain."""
    return f"{STANDINGS[placed.standing]} {placed.told}" if placed.told else ""
