"""Rows that are hard in numbers: offsets, infinities, ties, large vocabularies, unlucky places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.fuse.asking import LIMIT, Asked, Question, ask, event_line, judged, served, usual
from judge_tui.checks.tasks.fuse.correct import draw
from judge_tui.checks.tasks.fuse.large_rows import LARGE, SIXTEEN, far_above, large_cause, nearly_one
from judge_tui.checks.tasks.fuse.telling import explained
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

__all__ = ["numerics"]

_OFFSET = 1e4
#: What rounding lse to float32 at the offset costs; 8 units in the last place.
_ROUNDED = 8 * _OFFSET * 2.0**-24
#: Standard deviations at which some 1e-4 of a sum of 50,257 exponentials comes from terms below float32's
#: resolution of the whole: a sum by one thread, or one that leaves them out, misses the contract's 1e-5.
_SCALES = (3.0, 5.0)
_STRIPES = (32, 128, 256)
#: Logits of a rising row that are shuffled among themselves: 1 leaves it sorted.
_STRETCHES = (1, 32, 256, 1024)
#: Rows of such.
_RISING = 8
#: What stands for −inf in code, logits lying below it: so far apart that no sum is rounded.
_STAND_INS = (1e4, 5e4, 1e9)


@check(
    "numerics",
    "offsets, infinities, large V",
    establishes="Right at an offset of 1e4, with −inf among the logits, fewer than K finite ones, all equal, "
    "V = 50257 and 128256, the maximum last, the top-k in one thread's stripe, on rows that rise or tie.",
    version=14,
    budget=300,
)
def numerics(bench: Bench, found: Findings) -> str:
    """Launch on each of these rows; +inf and rows of −inf alone are evidence."""
    settled = served(bench)
    K = usual(settled, 10)
    rng = bench.rng("rows")
    sizes = bench.sizes("rows")
    rows = [
        *_offsets(rng, sizes, K),
        *_hard(rng, sizes, K),
        *_deep(rng, sizes, K),
        *_placed(rng, K),
        *_crowded(rng, usual(settled, 64)),
    ]
    asked = ask(bench, settled, rows, seconds=150)
    offsets, rest = asked[:2], asked[2:]
    wrong = _rounded(found, settled, offsets) + judged(found, settled, rest)
    blank = _blank(found, settled, asked)
    _undefined(bench, found, settled, K)
    if wrong:
        return explained(bench, found, settled, asked, wrong) + large_cause(bench, settled, wrong)
    if found.verdict is None:
        found.conclude(Verdict.SKIP)
        return "nothing that was asked for was answered"
    if found.verdict is Verdict.WARN:
        worst = max((each for each in offsets if each.compared), key=_error)
        if _error(worst) > LIMIT:
            return f"{worst.question.label}: probabilities {_error(worst):.2g} off: lse is rounded to float32"
    errors = [_error(each) for each in asked if each.compared is not None and each.right]
    right = f"{len(errors)} hard inputs right, probabilities at most {max(errors, default=0.0):.2g} off"
    return f"{right}; indices of −1 stand where the probability is 0" if blank else right


def _error(asked: Asked) -> float:
    return float(asked.compared.error.max()) if asked.compared is not None else 0.0


def _offsets(rng: np.random.Generator, sizes: Sizes, K: int) -> list[Question]:
    up = draw(rng, 1, sizes.between(1100, 1900)) + np.float32(_OFFSET)
    down = draw(rng, 1, sizes.between(1100, 1900)) - np.float32(_OFFSET)
    return [Question("offset 1e4", up, K), Question("offset −1e4", down, K)]


def _hard(rng: np.random.Generator, sizes: Sizes, K: int) -> list[Question]:
    minus = np.float32(-np.inf)
    holes = draw(rng, 1, sizes.between(700, 1400))
    holes[rng.random(holes.shape) < 0.4] = minus
    first = draw(rng, 1, sizes.between(1024, 1400))
    first[:, :600] = minus
    few = np.full((1, max(2 * K, 300)), minus, np.float32)
    finite = rng.permutation(few.shape[1])[: max(1, K // 2)]
    few[:, finite] = rng.normal(size=len(finite)).astype(np.float32)
    equal = np.full((1, sizes.between(700, 1400)), np.float32(rng.normal()), np.float32)
    nothing = np.full((1, sizes.between(700, 1400)), np.float32(-0.0))
    # after a ReLU: zeros of both signs, and fewer above them than are asked for
    clipped = np.zeros((1, sizes.between(700, 1400)), np.float32)
    clipped[rng.random(clipped.shape) < 0.5] = np.float32(-0.0)
    above = rng.permutation(clipped.shape[1])[: K // 2]
    clipped[0, above] = np.abs(rng.normal(size=len(above))) + 0.1
    one = draw(rng, 1, sizes.between(600, 1200))
    one[0, int(rng.integers(one.shape[1]))] = 120.0
    low = draw(rng, 1, sizes.between(600, 1200)) * np.float32(20) - np.float32(700)
    return [
        Question("−inf among the logits", holes, K),
        Question("−inf in front", first, K),
        Question("fewer than K finite", few, K),
        Question("all equal", equal, K),
        Question("all −0", nothing, K),
        Question("zeros of both signs at the K-th place", clipped, K),
        Question("one logit far above", one, K),
        Question("all far below zero", low, K),
    ]


def _deep(rng: np.random.Generator, sizes: Sizes, K: int) -> list[Question]:
    """Rows below what stands for −inf in code that starts from a finite number."""
    return [
        Question(
            f"all below −{stand_in:g}",
            (-stand_in * rng.uniform(1.05, 2.0, (1, sizes.between(600, 1200)))).astype(np.float32), K,
        )
        for stand_in in _STAND_INS
    ]  # fmt: skip


def _placed(rng: np.random.Generator, K: int) -> list[Question]:
    """Large vocabularies, the maximum last or sums of small terms; the top-k in one thread's stripe."""
    questions = []
    questions.append(far_above(rng, -1, K))
    logits = draw(rng, 1, LARGE[-1], scale=2.0)
    logits[0, -1] = np.abs(logits).max() + 1
    questions.append(Question(f"V = {LARGE[-1]}, the maximum last", logits, K))
    questions.append(nearly_one(rng, SIXTEEN, K))
    for scale in _SCALES:
        logits = draw(rng, 1, LARGE[0], scale=scale)
        questions.append(Question(f"V = {LARGE[0]}, spread {scale:g}", logits, K))
    for step in _STRIPES:
        V = max(step * (K + 3), 1024)
        places = int(rng.integers(step)) + step * rng.permutation(V // step)[:K]
        questions.append(Question(f"top-k on every {step}th place", _raised(rng, V, places), K))
    V = max(4 * K, 2048)
    start = int(rng.integers(V - K))
    questions.append(Question("top-k side by side", _raised(rng, V, start + np.arange(K)), K))
    return questions


def _crowded(rng: np.random.Generator, K: int) -> list[Question]:
    """Rows on which a list of candidates fills up: new maxima all the way, many ties, hardly a difference.

    What overflows loses the candidates of some threads. Which they are hangs on how they are scheduled, so
    K is large, maxima rise from logit to logit as well as over stretches that are shuffled, and of such rows
    there are several.
    """
    V = max(4 * K, 4096) + int(rng.integers(1, 1000))
    rising = []
    for length in _STRETCHES:
        rows = np.sort(draw(rng, _RISING, V, scale=2.0))
        for start in range(0, V, length):
            rng.shuffle(rows[:, start : start + length], axis=1)
        # each by itself, for rows that are mixed up are told elsewhere, and each in an order of its own
        label = f"maxima rise to the end, {length} at a time"
        rising += [Question(label, rows[at : at + 1], K, schedule=at) for at in range(_RISING)]
    falling = np.sort(draw(rng, 1, V))[:, ::-1]
    steps = rng.integers(0, 8, (1, V)).astype(np.float32)
    close = 1 + rng.permutation(V).astype(np.float32)[None] * np.float32(2.0**-23)
    return [
        *rising,
        Question("maxima fall from the start", np.ascontiguousarray(falling), K),
        Question("eight values alone", steps, K),
        Question("every logit next to another in float32", close, K),
    ]


def _raised(rng: np.random.Generator, V: int, places: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    logits = draw(rng, 1, V)
    logits[0, places] += np.float32(9.0)
    return logits


def _rounded(found: Findings, settled: Settled, asked: list[Asked]) -> list[Asked]:
    """At an offset, a log-sum-exp in float32 alone costs more than 1e-5: that warns, more fails."""
    wrong = []
    for each in asked:
        clean = each.compared is not None and bool(each.compared.chosen.all())
        if each.answer.status != "done" or not clean or not LIMIT < _error(each) <= _ROUNDED:
            wrong += judged(found, settled, [each])
            continue
        file, line = event_line(each.answer, settled.launcher)
        found.limit(
            f"{each.question.label}, probabilities, relative error, float32", _error(each), LIMIT,
            otherwise=Verdict.WARN, file=file, line=line or None,
            note="As much as rounding the log-sum-exp to float32 costs there.",
        )  # fmt: skip
    return wrong


def _blank(found: Findings, settled: Settled, asked: list[Asked]) -> int:
    """Entries of probability 0 that have no index: a reader that looks them up reads in front of the row."""
    told = [each for each in asked if each.compared is not None and each.compared.blank.any()]
    blank = sum(int(each.compared.blank.sum()) for each in told if each.compared is not None)
    if told:
        file, line = event_line(told[0].answer, settled.launcher)
        found.claim(
            "every entry has an index, entries of probability 0 too", False, measured=f"{blank} are −1",
            otherwise=Verdict.WARN, file=file, line=line or None, note=told[0].question.label,
        )  # fmt: skip
    return blank


def _undefined(bench: Bench, found: Findings, settled: Settled, K: int) -> None:
    """Rows whose softmax is not defined: what comes of them is told and decides nothing."""
    infinite = draw(bench.rng("infinite"), 1, 500)
    infinite[0, 77] = np.inf
    nothing = np.full((1, 500), -np.inf, np.float32)
    for label, logits in (("+inf among the logits", infinite), ("−inf alone", nothing)):
        (asked,) = ask(bench, settled, [Question(label, logits, K)], seconds=20)
        if asked.read is None:
            found.note(label, asked.answer.ended or asked.answer.status, note="Evidence only.")
            continue
        first = ", ".join(f"{index}" for index in asked.read.indices[0][:4])
        chances = ", ".join(f"{p:.3g}" for p in asked.read.probabilities[0][:4])
        found.note(label, f"indices {first}; probabilities {chances}", note="Evidence only.")
