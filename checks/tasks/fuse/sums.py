"""Naming the mistake behind a wrong sum of exponentials, by rows that tell mistakes apart."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.asking import Asked, Question, ask, usual
from judge_tui.checks.tasks.fuse.hypotheses import by_chunks
from judge_tui.checks.tasks.fuse.merging import common
from judge_tui.checks.tasks.fuse.seen_sums import Hypothesis, Sum, sum_of
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["sums_off", "wrong_chunks", "wrong_sum"]

#: V of the rows that are launched: whole rounds of all threads, and rests of every kind.
_LENGTHS = (1024, 2047, 3601)
#: V of rows whose largest logits stand in front, where what leaves others out finds them, and by how far the
#: others lie below them: by little, or so far that the farthest weigh something.
_IN_FRONT, _DEPTHS = (131, 263, 1283, 4099), ((0.0, 3.0), (8.0, 14.0))
#: Their spread: maxima of parts differ by about 1, and no sum that is got wrong leaves float32's range.
_SCALE = 2.0
_SECONDS = 20.0
#: Rows of the check's own that are looked at where those are answered rightly, and logits of each.
_MOST, _LONGEST = 4, 9000
#: Sizes of chunks that long rows may be cut into.
_LEAST_CHUNK, _MOST_CHUNK = 128, 8192
#: A relative error that is one.
_WRONG = 1e-4
_KNOWN: weakref.WeakKeyDictionary[Bench, list[Sum]] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


def wrong_sum(bench: Bench, found: Findings, settled: Settled, wrong: Sequence[Asked]) -> str:
    """What is wrong with the sum that probabilities are divided by, as the end of a sentence.

    A few rows are launched on which the known mistakes differ; the one that gives all of their answers is
    told where it gives those of the check as well. Nothing is launched where no probability is wrong.

    Args:
        bench: Where it is judged.
        found: Is told.
        settled: How the submission is launched.
        wrong: The check's answers that are wrong, the first one being told.

    Returns:
        Empty where nothing is known.
    """
    own = list(_sums(each for each in wrong[:_MOST] if each.question.logits.shape[1] <= _LONGEST))
    told = next((each.compared for each in wrong if each.compared is not None), None)
    # what is no number has no factor in common, but may be the same mistake
    other = told is None or not told.chosen.all() or (told.because and np.isfinite(told.error).all())
    if not own or other:
        return ""
    launched = _launched(bench, settled)
    # short rows are shared out in more ways
    mistake = _mistake(launched, own) or _mistake([each for each in launched if each.count in _LENGTHS], own)
    if mistake is None:
        return ""
    launcher = settled.launcher
    found.note("the sum of exponentials", mistake.words, file=launcher.file, line=launcher.line or None)
    return f": {mistake.words}"


def wrong_chunks(
    bench: Bench, found: Findings, settled: Settled, wrong: Sequence[Asked], longest: int
) -> str:
    """What is wrong with the sums of rows longer than those that are right, as the end of a sentence.

    Args:
        bench: Where it is judged.
        found: Is told.
        settled: How the submission is launched.
        wrong: The check's answers that are wrong.
        longest: Up to which length rows are right.
    """
    off = any(each.compared is not None and (each.compared.error > _WRONG).any() for each in wrong)
    if not off or not _LEAST_CHUNK <= longest <= _MOST_CHUNK:
        return ""
    rng, K = bench.rng("chunks"), usual(settled, 10)
    lengths = (longest + longest // 3, 2 * longest, 2 * longest + 77, 4 * longest - 9)
    rows = [rng.normal(scale=_SCALE, size=(1, V)).astype(np.float32) for V in lengths]
    for row in rows:
        # where the first chunk is, which nothing loses
        row[0, rng.permutation(longest)[:K]] = row.max() + rng.uniform(0.1, 1.0, K)
    questions = [Question(f"sum of {row.shape[1]} exponentials", row, K) for row in rows]
    try:
        sums = list(_sums(ask(bench, settled, questions, seconds=_SECONDS)))
    except Skipped:
        return ""
    mistake = common(sums, tuple(by_chunks(longest))) if len(sums) == len(rows) else None
    if mistake is None:
        return ""
    launcher = settled.launcher
    found.note("the sum of exponentials", mistake.words, file=launcher.file, line=launcher.line or None)
    return f"; {mistake.words}"


def sums_off(wrong: Sequence[Asked]) -> str:
    """That rows are right but for the sum that they are divided by, as a clause; empty where that is not all.

    Args:
        wrong: Answers that are wrong.
    """
    told = [each for each in wrong if each.question.logits.shape[1] <= _LONGEST][:_MOST]
    sums = list(_sums(told))
    if not sums or len(sums) < len(told) or not all(each.off for each in sums):
        return ""
    with np.errstate(over="ignore"):
        times = sorted(float(np.exp(each.log - each.row.log)) for each in sums)
    often = (
        f"{times[0]:.3g}" if times[-1] - times[0] <= 1e-3 * times[0] else f"{times[0]:.3g} to {times[-1]:.3g}"
    )
    return f"indices are right, and the sum of exponentials is {often} times what it should be"


def _mistake(launched: Sequence[Sum], own: Sequence[Sum]) -> Hypothesis | None:
    """The mistake that gives what was launched and the check's own rows; these alone if those are right."""
    sums = launched if any(each.off for each in launched) else own
    mistake = common(sums)
    return mistake if mistake is not None and all(map(mistake.gives, own)) else None


def _launched(bench: Bench, settled: Settled) -> list[Sum]:
    known = _KNOWN.get(bench)
    if known is None:
        rng, K = bench.rng("sums"), usual(settled, 10)
        rows = [rng.normal(scale=_SCALE, size=(1, V)).astype(np.float32) for V in _LENGTHS]
        rows += [_in_front(rng, V, K, depths) for V in _IN_FRONT for depths in _DEPTHS]
        questions = [Question(f"sum of {row.shape[1]} exponentials", row, K) for row in rows]
        try:
            known = list(_sums(ask(bench, settled, questions, seconds=_SECONDS)))
        except Skipped:
            known = []
        with _LOCK:
            _KNOWN[bench] = known
    return known


def _in_front(
    rng: np.random.Generator, V: int, K: int, depths: tuple[float, float]
) -> npt.NDArray[np.float32]:
    """A row (1, V) whose K largest logits are the first ones, in random order."""
    row = -rng.uniform(*depths, size=V)
    row[:K] = rng.uniform(0.1, 1.0, size=min(K, V))
    return row[None].astype(np.float32)


def _sums(asked: Iterable[Asked]) -> Iterator[Sum]:
    """The sums behind rows whose indices are right: of each launch the one that is furthest off."""
    for each in asked:
        if each.compared is None or each.read is None or each.answer.status != "done":
            continue
        off = np.where(each.compared.chosen & np.isfinite(each.compared.error), each.compared.error, -1.0)
        # vector loads share out otherwise what does not begin at their boundaries
        aligned = np.where(np.arange(len(off)) * each.question.logits.shape[1] % 4 == 0, off, -1.0)
        row = int(np.argmax(aligned if aligned.max() > _WRONG else off))
        logits = each.question.logits[row]
        indices = each.read.indices[row]
        if not each.compared.chosen[row] or (indices < 0).any():
            continue
        seen = sum_of(logits, logits[indices], each.read.probabilities[row])
        if seen is not None:
            yield seen
