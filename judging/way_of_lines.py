"""What has become of the lines of a text: those whose way is certain, however the texts are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judge_tui.judging.anchor import Earlier
from judge_tui.judging.text_index import TextIndex

__all__ = ["Pairs", "earlier"]

#: Finds pairs of equal lines of two texts, 0-based, in the order of both.
Pairs = Callable[[Sequence[str], Sequence[str]], Sequence[tuple[int, int]]]


def earlier(old: TextIndex, new: TextIndex, pairs: Pairs) -> Earlier:
    """The way of the lines of a text into another one.

    A comparison may pair a line that is gone with one of its like. It does so in another way from the end
    than from the beginning: what both ways say is certain.

    Args:
        old: The text as it was.
        new: The text as it is.
        pairs: Compares two texts.
    """
    forth = set(pairs(old.said, new.said))
    last_old, last_new = len(old) - 1, len(new) - 1
    back = {(last_old - a, last_new - b) for a, b in pairs(old.said[::-1], new.said[::-1])}
    certain = sorted(forth & back)
    return Earlier(old, dict(certain), {now: before for before, now in certain})
