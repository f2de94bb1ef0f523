"""Which places of a row never come out: rows that have their largest logit at each place in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.asking import Question, ask, usual
from judge_tui.checks.tasks.fuse.conditions import named_as
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["lost_places", "lost_tail", "told_of"]

Places = npt.NDArray[np.bool_]
#: Lengths of rows that are looked at, how many, rows of one launch, and how far the largest logit is above.
_LONGEST, _MOST, _ROWS, _ABOVE = 700, 2, 64, 20.0
_SECONDS, _LEFT = 25.0, 40.0
#: A length of which the rest of every power of two is another.
_TELLING = 511
#: Last places that are looked at, and by how much longer rows are than the longest right one.
_LAST, _TAILS = 40, (3, 14, 37, 101, 223)
#: Units of which a rest may be left out, and numbers of threads that keep a list each.
_UNITS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_THREADS = (32, 64, 128, 256, 512, 1024)


def lost_places(bench: Bench, settled: Settled, wrong: Iterable[int]) -> str:
    """What the places have in common whose logit never comes out, as the end of a sentence.

    Args:
        bench: Where it is judged.
        settled: How the submission is launched.
        wrong: V of single rows that are answered wrongly.

    Returns:
        Empty where every place comes out, or where nothing could be launched.
    """
    lost: dict[int, Places] = {}
    lengths = sorted((V for V in set(wrong) if V <= _LONGEST), reverse=True)
    for V in dict.fromkeys((*lengths[:1], _TELLING, *lengths[1:]) if lengths else ()):
        if len(lost) == _MOST:
            break
        found = _lost(bench, settled, V)
        if found is not None and found.any():
            lost[V] = found
    told = told_of(lost) if lost else ""
    return f"; {told}" if told else ""


def _lost(bench: Bench, settled: Settled, V: int) -> Places | None:
    """Places (V,) whose logit is the row's largest and does not come out."""
    K = usual(settled, 5, most=V)
    rows = bench.rng("places", V).normal(size=(V, V)).astype(np.float32)
    rows[np.arange(V), np.arange(V)] += np.float32(_ABOVE)
    questions = [
        Question(f"the largest of {V} at each place", np.ascontiguousarray(rows[start : start + _ROWS]), K)
        for start in range(0, V, _ROWS)
    ]
    if bench.left < _LEFT or K > V:
        return None
    try:
        asked = ask(bench, settled, questions, seconds=_SECONDS)
    except Skipped:
        return None
    if any(each.read is None or each.read.unwritten.any() or each.answer.status != "done" for each in asked):
        return None
    indices = np.concatenate([each.read.indices for each in asked if each.read is not None])
    return np.asarray(~(indices == np.arange(V)[:, None]).any(axis=1))


def lost_tail(bench: Bench, settled: Settled, longest: int) -> str:
    """How many of a long row's last logits never come out, as the end of a sentence.

    Args:
        bench: Where it is judged.
        settled: How the submission is launched.
        longest: Up to which V single rows are right.

    Returns:
        Empty where the number is no rest of V, or where nothing could be launched.
    """
    if bench.left < _LEFT or longest < _LONGEST:
        return ""
    K, rng = usual(settled, 5), bench.rng("tail")
    questions = []
    for off in _TAILS:
        V = longest + off
        rows = rng.normal(size=(_LAST, V)).astype(np.float32)
        rows[np.arange(_LAST), V - 1 - np.arange(_LAST)] += np.float32(_ABOVE)
        questions.append(Question(f"the largest of {V} at each of its last places", rows, K))
    try:
        asked = ask(bench, settled, questions, seconds=_SECONDS)
    except Skipped:
        return ""
    counts: dict[int, int] = {}
    for each in asked:
        if each.read is None or each.read.unwritten.any() or each.answer.status != "done":
            return ""
        V = each.question.logits.shape[1]
        lost = ~(each.read.indices == (V - 1 - np.arange(_LAST))[:, None]).any(axis=1)
        counts[V] = int(lost.sum())
        if lost[counts[V] :].any() or lost.all():
            return ""
    units = (unit for unit in range(2, longest + 1) if all(V % unit == lost for V, lost in counts.items()))
    unit = next(units, 0) if sum(map(bool, counts.values())) > 1 else 0
    return f"; the last V % {unit} logits of a long row never come out{named_as(bench, unit)}" if unit else ""


def told_of(lost: Mapping[int, Places]) -> str:
    """Places that are lost, in words; empty where they are neither together nor of a known rule.

    Args:
        lost: V → which places are.
    """
    for words, wanted in _rules():
        if all(np.array_equal(wanted(V), places) for V, places in lost.items()):
            return words
    V, places = next(iter(lost.items()))
    which = np.flatnonzero(places)
    if len(which) < which[-1] - which[0] + 1:
        return ""
    span = f"place {which[0]}" if len(which) == 1 else f"places {which[0]} to {which[-1]}"
    return f"of V = {V} the logits at {span} never come out"


def _rules() -> Iterator[tuple[str, Callable[[int], Places]]]:
    yield "the last logit of a row never comes out", lambda V: np.arange(V) == V - 1
    yield "the first logit of a row never comes out", lambda V: np.arange(V) == 0
    for unit in _UNITS:
        yield f"logits behind the last multiple of {unit} never come out", _behind(unit)
    for unit in _UNITS:
        yield f"logits from place {unit} on never come out", _from(unit)
    for threads in _THREADS:
        yield (
            f"the lists of {threads} threads are merged two by two, and where their number is odd the last "
            "one's is lost",
            _odd_lost(threads),
        )
    for threads in _THREADS:
        yield (
            f"of {threads} threads the last one's logits never come out",
            lambda V, n=threads: np.arange(V) % n == n - 1,  # type: ignore[misc]
        )
        yield (
            f"of {threads} threads the second half's logits never come out",
            lambda V, n=threads: np.arange(V) % n >= n // 2,  # type: ignore[misc]
        )


def _behind(unit: int) -> Callable[[int], Places]:
    return lambda V: np.arange(V) >= V // unit * unit


def _from(unit: int) -> Callable[[int], Places]:
    return lambda V: np.arange(V) >= unit


def _odd_lost(threads: int) -> Callable[[int], Places]:
    """A tree that halves the number of lists, rounding down, with all that was merged into the last one."""

    def places(V: int) -> Places:
        count = min(V, threads)
        merged = np.arange(count)
        lost = np.zeros(count, dtype=bool)
        while count > 1:
            half = count // 2
            if count % 2:
                lost |= merged == count - 1
            merged = np.where((merged >= half) & (merged < 2 * half), merged - half, merged)
            count = half
        return np.asarray(lost[np.arange(V) % min(V, threads)])

    return places
