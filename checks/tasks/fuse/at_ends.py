"""Whether rows are wrong where the logit at one of their ends is among the K largest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from judge_tui.checks.tasks.fuse.asking import LIMIT, Asked
from judge_tui.checks.tasks.fuse.reference import truth

__all__ = ["wrong_at_ends"]

#: Places, counted from the end where they are negative, and what they are called.
_PLACES = {
    0: "the first logit",
    -1: "the last logit",
    1: "the logit at index 1",
    -2: "the last logit but one",
}
#: Chance puts the place among the K largest of all wrong rows once in so many times, and wrong rows at least.
_CHANCE, _LEAST = 2000, 2


def wrong_at_ends(asked: Sequence[Asked]) -> str:
    """Which end of a row has one of the K largest wherever it is wrong, as a clause; empty for none.

    Args:
        asked: All answers, right ones too.
    """
    rows = [row for each in asked for row in _rows(each)]
    wrong = sum(not right for right, _places in rows)
    for place, words in _PLACES.items():
        met = [right for right, places in rows if place in places]
        if wrong < _LEAST or met.count(False) < wrong:
            continue
        if comb(len(met), wrong) * _CHANCE < comb(len(rows), wrong):
            others = met.count(True)
            told = f" (and of {others} right one{'s' * (others > 1)})" if others else ", and of no right one"
            return f"{words} is one of the K largest of every wrong row{told}"
    return ""


def _rows(asked: Asked) -> Iterator[tuple[bool, frozenset[int]]]:
    """Of each row whether it is right, and at which of the places one of its K largest stands."""
    logits, K, known = asked.question.logits, asked.question.K, asked.compared
    if known is None or asked.answer.status != "done" or asked.question.variant:
        return
    least = truth(logits, K).values[:, -1]
    alone = (logits >= least[:, None]).sum(axis=1) == K
    for row, right in enumerate(known.right(LIMIT)):
        if alone[row] or not right:
            tops = frozenset(place for place in _PLACES if logits[row, place] >= least[row])
            yield bool(right), tops
