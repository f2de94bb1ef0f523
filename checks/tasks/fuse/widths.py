"""For which V a single row is answered wrongly, where a wrong launch has another cause than its numbers."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Skipped
from judge_tui.checks.size_conditions import only_where
from judge_tui.checks.tasks.fuse.asking import Question, ask, usual
from judge_tui.checks.tasks.fuse.places import lost_places, lost_tail
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["between", "longest_right", "wrong_widths"]

#: The least and the largest V, how many there are at first, and rounds that narrow what they show.
_LEAST, _MOST, _RUNGS, _ROUNDS = 40, 6000, 26, 4
#: V that are tried where all of those are wrong.
_LONG = (10_000, 24_000, 50_000)
#: How many V divide what lies between a right and a wrong one, each round.
_PARTS = 4
_SECONDS, _LEFT = 25.0, 60.0
_KNOWN: weakref.WeakKeyDictionary[Bench, str] = weakref.WeakKeyDictionary()
_RIGHT: weakref.WeakKeyDictionary[Bench, int] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


def wrong_widths(bench: Bench, found: Findings, settled: Settled) -> str:
    """The V for which single rows are wrong, as the end of a sentence; empty where V alone does not tell.

    Args:
        bench: Where it is judged.
        found: Is told.
        settled: How the submission is launched.
    """
    told = _KNOWN.get(bench)
    if told is None:
        seen = _asked(bench, settled)
        told = only_where([({"V": V}, right) for V, right in seen.items()], limits=True)
        told = f"; single rows are {told}" if told else ""
        told += lost_places(bench, settled, (V for V, right in seen.items() if not right))
        if told and "never" not in told:
            least = min((V for V, right in seen.items() if not right), default=0)
            told += lost_tail(
                bench, settled, max((V for V, right in seen.items() if right and least > V), default=0)
            )
        with _LOCK:
            _KNOWN[bench] = told
            _RIGHT[bench] = _longest(seen)
    if not told:
        return ""
    launcher = settled.launcher
    words = told.removeprefix("; ")
    found.note("single rows of many V", words, file=launcher.file, line=launcher.line or None)
    return told


def longest_right(bench: Bench) -> int:
    """The V up to which all single rows are right and behind which none are; 0 where there is none.

    Args:
        bench: Where it is judged; it has been asked for wrong widths.
    """
    return _RIGHT.get(bench, 0)


def _longest(seen: Mapping[int, bool]) -> int:
    right, wrong = ({V for V, each in seen.items() if each is which} for which in (True, False))
    apart = right and wrong and max(right) + 1 == min(wrong)
    return max(right) if apart else 0


def _asked(bench: Bench, settled: Settled) -> dict[int, bool]:
    """V → whether a row of so many logits is answered rightly."""
    rng, K = bench.rng("widths"), usual(settled, 5)
    steps = np.geomspace(_LEAST, _MOST, _RUNGS)
    rungs = [int(rng.integers(one, other)) for one, other in itertools.pairwise(steps)]
    seen: dict[int, bool] = {}
    for number in range(1 + _ROUNDS):
        questions = [Question(f"V = {V}", _row(rng, V), K) for V in rungs]
        if bench.left < _LEFT or not questions:
            break
        try:
            asked = ask(bench, settled, questions, seconds=_SECONDS)
        except Skipped:
            break
        seen |= {
            each.question.logits.shape[1]: each.right
            for each in asked
            if not (each.undecided or each.refused)
        }
        rungs = list(between(seen))
        if number == 0 and seen and not any(seen.values()):
            rungs = list(_LONG)
    return seen


def _row(rng: np.random.Generator, V: int) -> npt.NDArray[np.float32]:
    """A row whose largest logit is the last one, which code that rounds down loses."""
    row = rng.normal(scale=2.0, size=(1, V)).astype(np.float32)
    row[0, -1] = row.max() + 1
    return row


def between(seen: Mapping[int, bool]) -> Iterator[int]:
    """The V that divide what lies between wrong ones and the right ones next to them, below and above.

    Args:
        seen: V → whether it was right.
    """
    wrong = [V for V, right in seen.items() if not right]
    if not wrong:
        return
    least, most = min(wrong), max(wrong)
    below = max((V for V in seen if least > V), default=least)
    above = min((V for V in seen if most < V), default=most)
    for low, high in ((below, least), (most, above)):
        yield from sorted({low + (high - low) * part // _PARTS for part in range(1, _PARTS)} - {low, high})
