"""Whether each row gets its own top-k and its own probabilities, on plain input and on any number of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.fuse.asking import Asked, Question, ask, judged, served, usual
from judge_tui.checks.tasks.fuse.grid_limits import grid_limits
from judge_tui.checks.tasks.fuse.launcher import Launcher
from judge_tui.checks.tasks.fuse.running import others
from judge_tui.checks.tasks.fuse.telling import explained
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

__all__ = ["rows_independent", "topk_correct"]

_BUDGET = 300.0
#: Powers of two that lengths of short rows lie behind, and before the next.
_SHORT = (4, 16, 32, 64, 128, 512)
_LAST = "a short row, its largest logit last"
#: Rows of launches in which a block goes on to a second one.
_BEHIND = 150
#: What a template calls the number of entries that it has room for.
_ROOM = re.compile(r"cap|max_?k|k_?max|^k|_k$|room|list|slot|heap|keep|depth|top|entries|per_?lane", re.I)


def draw(
    rng: np.random.Generator, rows: int, V: int, *, scale: float = 1.0, steps: int = 0
) -> npt.NDArray[np.float32]:
    """Rows of normal logits.

    Args:
        rng: Draws them.
        rows: How many.
        V: Logits of each.
        scale: Their standard deviation.
        steps: Rounded to this many steps per unit, so that there are ties; 0 for none.
    """
    logits = rng.normal(scale=scale, size=(rows, V))
    if steps:
        logits = np.round(logits * steps) / steps
    return np.ascontiguousarray(logits, dtype=np.float32)


@check(
    "topk_correct",
    "top-k and probabilities",
    establishes="Indices distinct and in range, their logits the sorted top-k bit for bit, p = exp(x − lse) "
    "within 1e-5.",
    budget=_BUDGET,
    version=11,
)
def topk_correct(bench: Bench, found: Findings) -> str:
    """Launch on one row and on few, without ties and with them, with zeros of both signs, at several K."""
    settled = served(bench)
    small, middle = usual(settled, 5), usual(settled, 32)
    rng, sizes = bench.rng("inputs"), bench.sizes("inputs")
    known = usual(settled, sizes.between(2, 40))
    signed = draw(rng, 1, sizes.between(600, 1100), steps=4) * np.float32(0.25)
    signed[:, ::3] = np.float32(-0.0)
    signed = np.minimum(signed, np.float32(0.0))
    signed[:, ::5] = 0.0
    questions = [
        Question("one row", draw(rng, 1, sizes.between(700, 1400)), small),
        Question("one row, another draw", draw(rng, 1, sizes.between(700, 1400), scale=3.0), middle),
        Question("logits × 30", draw(rng, 1, sizes.between(3000, 5000), scale=30.0), small),
        Question("ties", draw(rng, 1, sizes.between(1500, 2600), steps=2), middle),
        Question("zeros of both signs on top", signed, small),
        Question("falling", -np.sort(-draw(rng, 1, sizes.between(2300, 3700))), middle),
        Question("rising", np.sort(draw(rng, 1, sizes.between(2300, 3700))), middle),
        Question("V = 50257", draw(rng, 1, 50257, scale=2.0), middle),
        Question("any V", draw(rng, 1, sizes.between(64, 9000)), known),
        Question("a large V", draw(rng, 1, sizes.between(20_000, 70_000), scale=2.0), known),
        *_short(rng, sizes, settled),
    ]
    rng.shuffle(questions)
    asked = ask(bench, settled, questions)
    wrong = judged(found, settled, asked)
    # of what is wrong, more is told by a row of usual length
    wrong.sort(key=lambda each: each.question.label == _LAST)
    by_host = _made_by_host(found, settled, asked)
    _how(found, settled)
    beside = _others(bench, found, questions)
    return (by_host if by_host and not wrong else _summary(bench, found, settled, asked, wrong)) + beside


def _short(rng: np.random.Generator, sizes: Sizes, settled: Settled) -> Iterator[Question]:
    """Rows shorter than blocks, of no power of two, the largest logit last: what rounds down loses it."""
    for least in _SHORT:
        V = sizes.between(least + 1, 2 * least - 1)
        K = usual(settled, 5, most=V)
        if K <= V and K in (settled.answered or settled.launcher.instances or (K,)):
            row = draw(rng, 1, V)
            row[0, -1] = row.max() + 1
            yield Question(_LAST, row, K)


def _how(found: Findings, settled: Settled) -> None:
    launcher = settled.launcher
    found.note(
        "launched as", launcher.called, file=launcher.file, line=launcher.line or None,
        note=f"{launcher.why}; {launcher.index} indices, output stride {launcher.stride}.",
    )  # fmt: skip
    for told in getattr(settled.program, "told", ()):
        found.note(
            "the emulator runs it without", told.text, file=told.file or None, line=told.line or None,
            note="It would keep accesses from being watched, or name what is not the submission's.",
        )  # fmt: skip


def _made_by_host(found: Findings, settled: Settled, asked: Sequence[Asked]) -> str:
    """A claim where a launch brings the logits to the host, or the answer from there; what it says."""
    seen = next((e for each in asked for e in each.answer.events if e.kind == "host_copy"), None)
    if seen is None:
        return ""
    found.claim(
        "the answer is made on the device", False, measured=seen.text, otherwise=Verdict.WARN,
        file=seen.file or settled.launcher.file, line=seen.line or settled.launcher.line or None,
    )  # fmt: skip
    return f"right, but {seen.text}"


def _others(bench: Bench, found: Findings, questions: list[Question]) -> str:
    """The same asked of other launchers that the submission offers: what is wrong there warns."""
    told = ""
    for settled in others(bench):
        if not settled.answered:
            continue
        numbers = settled.answered
        fitting = [replace(q, K=min(numbers, key=lambda K: abs(K - q.K))) for q in questions]
        asked = ask(bench, settled, fitting, seconds=60)
        wrong = judged(found, settled, asked, settled.launcher.name, otherwise=Verdict.WARN)
        right = sum(each.right for each in asked)
        found.note(
            f"also offered: {settled.launcher.name}, launches right", right, limit=len(asked),
            file=settled.launcher.file, line=settled.launcher.line or None,
        )  # fmt: skip
        if wrong:
            told += f"; {settled.launcher.name} beside it: {wrong[0].question.label}: {wrong[0].wrong}"
    return told


def _summary(
    bench: Bench, found: Findings, settled: Settled, asked: Sequence[Asked], wrong: Sequence[Asked]
) -> str:
    if wrong:
        variant = settled.launchers[wrong[0].question.variant].variant
        return explained(bench, found, settled, asked, wrong, f" with {variant}" if variant else "")
    if found.verdict is None:
        found.conclude(Verdict.SKIP)
        return "nothing that was asked for was answered"
    answered = sum(item.ok is True for item in found.evidence)
    return f"{answered} comparisons, every row right"


@check(
    "rows_independent",
    "rows apart from each other",
    establishes="A row's answer does not change with its neighbours, for any number of rows and every block "
    "shape that the code offers.",
    budget=_BUDGET,
    version=14,
)
def rows_independent(bench: Bench, found: Findings) -> str:
    """Rows of disjoint ranges and far apart, counts that are no multiple, odd boundaries; each variant."""
    settled = served(bench)
    K = usual(settled, 10)
    rng, sizes = bench.rng("rows"), bench.sizes("rows")
    count, rows_apart = sizes.between(5, 12), sizes.multiple(4, 12, 20)
    many = [
        Question("rows of disjoint ranges", apart(rng, rows_apart, sizes.between(400, 640)), K),
        Question("few rows, V odd", apart(rng, sizes.between(5, 9), 2 * sizes.between(400, 600) + 1), K),
        Question("33 rows", apart(rng, 33, sizes.between(200, 330)), K),
        Question("any rows", apart(rng, sizes.between(2, 70), sizes.between(64, 400)), K),
        Question("rows off a 16-byte boundary", apart(rng, 3, 50257), K),
        Question("few values on every lane", striped(rng, count, sizes.multiple(32, 512, 768)), K),
        Question("high and low rows by turns", far(rng, np.arange(count) % 2, sizes.between(200, 330)), K),
        Question("high rows, then low ones", far(rng, np.arange(40) // 20, sizes.between(100, 160)), K),
        # blocks of one wave go on to a second row, long enough that what they collected was cut before
        Question("more rows than a wave has blocks", far(rng, np.arange(150) // 75, 1300), K),
        *_hard_behind_plain(rng, sizes, K),
    ]
    asked = ask(bench, settled, many)
    wrong = judged(found, settled, asked)
    _alone(bench, found, settled, many[0])
    rows = [("variant", "rows right", "of")]
    for number, launcher in enumerate(settled.launchers[1:], 1):
        variant = str(launcher.variant)
        bench.progress(variant, number / len(settled.launchers))
        fewer = [Question(many[i].label, many[i].logits, _served(settled, number, K), number) for i in (0, 1)]
        answers = ask(bench, settled, fewer)
        if any(each.right is False for each in answers) and (room := _capacity(launcher, K)):
            less = ask(bench, settled, [replace(q, K=room) for q in fewer])
            if all(each.right for each in less):
                # a template for few K, which the submission itself does not ask for more
                found.note(f"{variant} at K = {K}", "not what it is for", note=f"Right at K = {room}.")
                answers = less
        wrong += judged(found, settled, answers, variant)
        right = sum(each.rows_right for each in answers)
        rows.append((variant, str(right), str(sum(len(q.logits) for q in fewer))))
    if len(rows) > 1:
        found.note("variants that the code offers", len(rows) - 1, unit="variants", table=tuple(rows))
    _how(found, settled)
    beside = _others(bench, found, many)
    grid = grid_limits(bench, found, settled)
    if grid and not wrong:
        return grid + beside
    return _summary(bench, found, settled, asked, wrong) + beside


def _hard_behind_plain(rng: np.random.Generator, sizes: Sizes, K: int) -> Iterator[Question]:
    """Rows of few finite logits, and of equal ones, behind plain rows, whose state a block may keep."""
    V = max(sizes.between(200, 330), 3 * K)
    few, equal = (draw(rng, _BEHIND, V) + np.float32(3.0) for _ in range(2))
    for row in range(_BEHIND // 2, _BEHIND):
        values = few[row].copy()
        few[row] = -np.inf
        kept = rng.permutation(V)[: max(1, K // 2)]
        few[row, kept] = values[kept] - np.float32(9.0)
        equal[row] = np.float32(-rng.uniform(1.0, 3.0))
    yield Question("rows of fewer than K finite logits behind plain ones", few, K)
    yield Question("rows of equal logits behind plain ones", equal, K)


def _served(settled: Settled, variant: int, K: int) -> int:
    instances = settled.launchers[variant].instances
    return min(instances, key=lambda each: abs(each - K)) if instances else K


def _capacity(launcher: Launcher, K: int) -> int:
    """The number below K that a variant's template argument names as its room; 0 where it names none."""
    if (variant := launcher.variant) is None or not _ROOM.search(variant.name) or not variant.value.isdigit():
        return 0
    room = int(variant.value)
    return room if 0 < room < K else 0


def apart(rng: np.random.Generator, rows: int, V: int) -> npt.NDArray[np.float32]:
    """Rows whose logits lie in ranges of their own, in a random order, so that a foreign entry shows."""
    logits = draw(rng, rows, V)
    offsets = rng.permutation(rows).astype(np.float32) * np.float32(3.0)
    return logits + offsets[:, None]


def far(rng: np.random.Generator, low: npt.NDArray[np.intp], V: int) -> npt.NDArray[np.float32]:
    """Rows about 60, and those that are ``low`` about -60: what one leaves behind in a sum drowns the other.

    Args:
        rng: Draws them.
        low: 1 for a low row, 0 for a high one (rows,).
        V: Logits of each.
    """
    return draw(rng, len(low), V) + (60.0 - 120.0 * low[:, None]).astype(np.float32)


def striped(rng: np.random.Generator, rows: int, V: int) -> npt.NDArray[np.float32]:
    """Rows whose largest logits are spread over all lanes of a warp."""
    logits = draw(rng, rows, V) - np.float32(8.0)
    for row in range(rows):
        lanes = rng.permutation(32)
        logits[row, lanes + 32 * rng.integers(0, V // 32, 32)] += np.float32(12.0)
    return logits


def _alone(bench: Bench, found: Findings, settled: Settled, together: Question) -> None:
    """The same row by itself and among others: the same bits."""
    row = int(bench.rng("alone").integers(len(together.logits)))
    other = bench.rng("others").permutation(together.logits)
    other[0] = together.logits[row]
    pair = [
        Question("alone", together.logits[row : row + 1], together.K),
        Question("among others", np.ascontiguousarray(other), together.K),
    ]
    alone, among = ask(bench, settled, pair)
    if alone.read is None or among.read is None or alone.refused or among.refused:
        return
    same = bool(
        (alone.read.indices[0] == among.read.indices[0]).all()
        and (alone.read.probabilities[0].view(np.uint32) == among.read.probabilities[0].view(np.uint32)).all()
    )
    found.claim(
        "a row alone and among others", same, measured="same bits" if same else "another answer",
        limit="same bits", file=settled.launcher.file, line=settled.launcher.line or None,
    )  # fmt: skip
