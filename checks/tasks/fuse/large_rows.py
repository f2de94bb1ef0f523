"""Large vocabularies whose hard part is one number, and what is wrong where one of them alone is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.asking import Asked, Question, ask
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["LARGE", "SIXTEEN", "far_above", "large_cause", "nearly_one"]

LARGE = (50257, 128256)
#: Values that 16 bits can tell apart.
SIXTEEN = 1 << 16
#: How far a logit lies above the others: exp of the distance is beyond float32.
_ABOVE = np.float32(100.0)
#: Places whose logit may be the first that a maximum leaves out: a power of two, and the one before it.
_BITS = range(9, 16)
_SECONDS, _LEFT = 25.0, 40.0


def nearly_one(rng: np.random.Generator, count: int, K: int) -> Question:
    """So many logits of nearly one size far above the others: 65,536 make 0 of a count of 16 bits.

    Args:
        rng: Draws them.
        count: How many.
        K: Number of entries.
    """
    V = LARGE[-1]
    near = rng.uniform(-1.0, 1.0, (1, V)).astype(np.float32)
    near[0, rng.permutation(V)[:count]] += _ABOVE
    return Question(f"V = {V}, {count} of nearly one size far above", near, K)


def far_above(rng: np.random.Generator, place: int, K: int) -> Question:
    """One logit so far above the others that exp(x − max) overflows where the maximum leaves it out.

    Args:
        rng: Draws the others.
        place: Where it stands; −1 for the last place.
        K: Number of entries.
    """
    V = LARGE[0]
    logits = rng.normal(scale=2.0, size=(1, V)).astype(np.float32)
    logits[0, place] = np.abs(logits).max() + _ABOVE
    words = "the maximum last" if place == -1 else f"the maximum at place {place}"
    return Question(f"V = {V}, {words} and far above", logits, K)


def large_cause(bench: Bench, settled: Settled, wrong: Sequence[Asked]) -> str:
    """What is wrong where such a row is, as the end of a sentence; empty where it is not known.

    Args:
        bench: Where it is judged.
        settled: How the submission is launched.
        wrong: The check's answers that are wrong.
    """
    first, known = wrong[0].question, wrong[0].compared
    try:
        if (
            known is not None
            and known.chosen.all()
            and first.label == far_above(bench.rng("label"), -1, first.K).label
        ):
            return _left_out(bench, settled, first.K)
        if len(wrong) == 1 and first.label == nearly_one(bench.rng("label"), SIXTEEN, first.K).label:
            return _counted(bench, settled, first.K)
    except Skipped:
        pass
    return ""


def _counted(bench: Bench, settled: Settled, K: int) -> str:
    """Whether one less of nearly one size is right."""
    one_less = nearly_one(bench.rng("one less"), SIXTEEN - 1, K)
    (less,) = ask(bench, settled, [one_less], seconds=_SECONDS)
    return f"; {SIXTEEN - 1} of them are right: they are counted in 16 bits" if less.right else ""


def _left_out(bench: Bench, settled: Settled, K: int) -> str:
    """From which place on the maximum leaves logits out."""
    if bench.left < _LEFT:
        return ""
    rng, places = bench.rng("far above"), [(1 << bit) + off for bit in _BITS for off in (-1, 0)]
    asked = ask(bench, settled, [far_above(rng, place, K) for place in places], seconds=_SECONDS)
    right = [each.right for each in asked]
    first = right.index(False) if False in right else len(places)
    if not first or any(right[first:]) or any(each.undecided for each in asked):
        return ""
    if first == len(places):
        return f"; up to place {places[-1]} it is right: the maximum leaves out logits somewhere behind it"
    told = f"; the maximum leaves out logits from place {places[first]} on"
    return f"{told}, and at {places[first - 1]} it is right"
