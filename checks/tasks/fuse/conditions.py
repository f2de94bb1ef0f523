"""Which property of a row makes its answer wrong, found by rows that have more and more of one property.

Where a plain row is answered rightly, rows that differ from it in one property are launched: from the amount
on from which they are wrong, that property is the cause, and what else the checks drew beside it is not.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.asking import Asked, Question, ask, usual
from judge_tui.checks.tasks.fuse.families import CROWDED, FAMILIES, Family
from judge_tui.checks.tasks.fuse.hard_rows import SHARED, SHORT, keys, plain, sharing
from judge_tui.checks.tasks.fuse.subject import subject_of
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["Condition", "bound", "condition", "met_by", "named_as"]

#: An answer this far off is wrong because of the property; what rounding costs at offsets is told elsewhere.
_OFF = 1e-2
_SECONDS, _LEFT = 20.0, 60.0
#: Rounds that narrow what lies between a right and a wrong amount, and amounts of each.
_ROUNDS, _PARTS, _MOST, _CLOSE = 4, 3, 8, 0.97
#: Plain rows that must be right, and the share of wrong ones among the next amounts from a wrong one on.
_PLAIN, _SHARE, _NEXT = 2, 0.6, 5
_LENGTHS = (SHORT, SHARED)
#: The least and the most leading bits that a selection may look at, and draws of each.
_BITS, _DRAWS = (5, 26), 2
#: What is lost may be none of the K largest: a bound that is seen may be above the true one by so much.
_NEAR = 0.9
_KNOWN: weakref.WeakKeyDictionary[Bench, _Known] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


@dataclass(slots=True)
class _Known:
    """What was found of one submission."""

    plain: bool | None = None
    coarse: dict[int, tuple[Condition, ...]] = field(default_factory=dict)
    fine: dict[str, Condition | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Condition:
    """A property of rows, and from which amount on they are wrong.

    Attributes:
        family: Rows that have it.
        K: That rows of it were asked for.
        right: The largest amount below all wrong ones.
        wrong: The least that is wrong.
        words: As a clause behind "wrong where".
        seen: Amount → whether it was right.
        bits: Leading bits that so many logits share, where that is the property; else 0.
        rough: Whether rows do not show it before more is known.
    """

    family: Family
    K: int
    right: float
    wrong: float
    words: str
    seen: Mapping[float, bool] = field(default_factory=dict)
    bits: int = 0
    rough: bool = False

    def holds(self, row: npt.NDArray[np.float32], K: int) -> bool:
        """Whether a row (V,) has so much of it."""
        if not self.bits:
            return self.family.measured(row, K) >= self.wrong
        leading = keys(row) >> np.uint32(32 - self.bits)
        kth = np.partition(leading, len(row) - K)[len(row) - K]
        return int((leading >= kth).sum()) > self.right


def condition(bench: Bench, settled: Settled, asked: Sequence[Asked]) -> Condition | None:
    """The property that makes otherwise plain rows wrong, and that most of a check's wrong rows have.

    Args:
        bench: Where it is judged; what was found is kept with it.
        settled: How the submission is launched.
        asked: A check's answers, right ones too.

    Returns:
        ``None`` where none is found: also where plain rows are wrong by themselves.
    """
    wrong = [each for each in asked if each.compared is not None and not _right(each)]
    best: tuple[int, Condition] | None = None
    with _LOCK:
        known = _KNOWN.get(bench) or _Known()
        _KNOWN[bench] = known
        for group in range(len(FAMILIES)):
            with contextlib.suppress(Skipped):
                best = _better(best, _of_group(bench, settled, known, group, wrong), asked)
            if best is not None and best[0] == len(wrong) and best[1].family.whole:
                break
    return best[1] if best is not None else None


def _of_group(
    bench: Bench, settled: Settled, known: _Known, group: int, wrong: Sequence[Asked]
) -> Iterator[Condition]:
    """The narrowed conditions of a group that some wrong answer's rows meet, each looked for once."""
    if group not in known.coarse:
        known.coarse[group] = ()
        known.coarse[group] = _coarse(bench, settled, known, group)
    for coarse in known.coarse[group]:
        if not any(coarse.rough or _met(coarse, each) for each in wrong):
            continue
        name = coarse.family.name
        if name not in known.fine:
            known.fine[name] = None
            known.fine[name] = _narrowed(bench, settled, coarse)
        fine = known.fine[name]
        if fine is not None:
            yield fine


def _better(
    best: tuple[int, Condition] | None, found: Iterable[Condition], asked: Sequence[Asked]
) -> tuple[int, Condition] | None:
    """The one that most wrong answers meet, the earlier of two; one that as many right ones meet is none."""
    for each in found:
        met = [_right(one) for one in asked if _met(each, one) and not (_right(one) and _tied(one))]
        wrong = met.count(False)
        # an offset brings much else with it
        least = 0 if best is None else best[0] + (1 if best[1].family.whole else 0)
        if wrong >= max(least, 1) and wrong > met.count(True):
            best = wrong, each
    return best


def _tied(asked: Asked) -> bool:
    """Whether so many logits are equal to the K-th that a wrong choice among them shows nothing."""
    logits, K = asked.question.logits, asked.question.K
    kth = np.partition(logits, logits.shape[1] - K, axis=1)[:, -K]
    return bool(((logits == kth[:, None]).sum(axis=1) > K).any())


def met_by(condition: Condition, wrong: Iterable[Asked]) -> Asked | None:
    """The first of some wrong answers whose wrong rows all have a property.

    Args:
        condition: The property.
        wrong: Wrong answers.
    """
    return next((each for each in wrong if _met(condition, each)), None)


def _met(condition: Condition, asked: Asked) -> bool:
    if asked.compared is None:
        return False
    right = asked.compared.right(_OFF)
    rows = np.flatnonzero(~right if not right.all() else right)
    logits, K = asked.question.logits, asked.question.K
    return all(condition.holds(logits[row], K) for row in rows)


def bound(seen: Mapping[float, bool]) -> tuple[float, float] | None:
    """The largest amount below all wrong ones and the least wrong one; none where amounts do not tell.

    Args:
        seen: Amount → whether it was right.
    """
    wrong = [amount for amount, right in seen.items() if not right]
    if not wrong:
        return None
    least = min(wrong)
    below = [amount for amount in seen if amount < least]
    # much more of it may be right again: of ties there are enough then
    from_there = [seen[amount] for amount in sorted(seen) if amount >= least][:_NEXT]
    if not below or from_there.count(False) < _SHARE * len(from_there):
        return None
    return max(below), least


def _coarse(bench: Bench, settled: Settled, known: _Known, group: int) -> tuple[Condition, ...]:
    """The families of a group that are wrong, between amounts that lie far apart; the likeliest first."""
    K = usual(settled, 10, least=2)
    many = usual(settled, 64, least=2, most=64)
    if bench.left < _LEFT or not _plain(bench, settled, known, (K, many)):
        return ()
    wanted = [(family, many if family.stripe else K) for family in FAMILIES[group]]
    seen = _seen(bench, settled, [(family, k, family.amounts(k)) for family, k in wanted])
    found = [
        Condition(family, k, *limits, family.words(*limits, k), amounts, rough=family is CROWDED)
        for (family, k), amounts in zip(wanted, seen, strict=True)
        if (limits := bound(amounts)) is not None
    ]
    # of threads that share a row out, those whose own are fewest, and of these the fewest threads
    return tuple(
        sorted(found, key=lambda each: (each.right, each.family.stripe) if each.family.stripe else (0, 0))
    )


def _plain(bench: Bench, settled: Settled, known: _Known, numbers: Sequence[int]) -> bool:
    """Whether plain rows of each length are right; asked once."""
    if known.plain is None:
        rng = bench.rng("plain rows")
        rows = [
            Question("plain", plain(rng, K, V), K) for K in numbers for V in _LENGTHS for _ in range(_PLAIN)
        ]
        known.plain = False
        known.plain = all(map(_right, ask(bench, settled, rows, seconds=_SECONDS)))
    return known.plain


def _right(asked: Asked) -> bool:
    if asked.answer.status != "done" or asked.compared is None:
        return False
    return bool(asked.compared.right(_OFF).all())


def _seen(
    bench: Bench, settled: Settled, wanted: Sequence[tuple[Family, int, Sequence[float]]]
) -> list[dict[float, bool]]:
    """For each family amount → whether it is right; what was not run is left out."""
    questions, whose = [], []
    for number, (family, K, amounts) in enumerate(wanted):
        for amount in amounts:
            row = family.row(bench.rng("family", family.name, f"{amount}"), K, amount)
            questions.append(Question(f"{family.name}: {amount:g}", row, K))
            whose.append((number, amount))
    found: list[dict[float, bool]] = [{} for _ in wanted]
    if bench.left < _LEFT or not questions:
        return found
    for (number, amount), each in zip(whose, ask(bench, settled, questions, seconds=_SECONDS), strict=True):
        if not (each.undecided or each.refused):
            found[number][amount] = _right(each)
    return found


def _narrowed(bench: Bench, settled: Settled, coarse: Condition) -> Condition | None:
    """The same between amounts that are next to each other, as far as rounds go."""
    family, seen = coarse.family, dict(coarse.seen)
    constants = sorted(_constants(bench).values())
    for _round in range(_ROUNDS):
        found = bound(seen)
        if found is None:
            return None
        if family.whole and found[0] >= _CLOSE * found[1]:
            break
        parts = np.linspace(*found, _PARTS + 2)[1:-1]
        amounts = {float(int(part)) if family.whole else float(f"{part:.3g}") for part in parts}
        if _round == 0 and family.whole:
            near = [*constants, *(1 << bit for bit in range(5, 13))]
            amounts |= {float(n) for c in near for n in (c, c + 1) if found[0] < n < found[1]}
        fresh = sorted(amounts - set(seen))[:_MOST]
        if not fresh:
            break
        more = _seen(bench, settled, [(family, coarse.K, fresh)])[0]
        if not more:
            break
        seen |= more
    found = bound(seen)
    return _condition(bench, settled, coarse, *found) if found is not None else None


def _constants(bench: Bench) -> dict[str, int]:
    """Integers that the source has names for."""
    known = subject_of(bench).reading.constants
    values = {name: integer(text.partition("//")[0].strip(), known) for name, text in known.items()}
    return {name: value for name, value in values.items() if value is not None and value > 1}


def _condition(bench: Bench, settled: Settled, coarse: Condition, right: float, wrong: float) -> Condition:
    family, K = coarse.family, coarse.K
    words, bits = family.words(right, wrong, K), 0
    if family is CROWDED:
        bits = _bits(bench, settled, K, int(wrong))
        words = f"more than {right:.0f} logits, the K largest among them, "
        words += f"share their leading {bits} bits" if bits else "lie close together"
        if right <= K + 1:
            words = (
                f"logits differ behind their leading {bits} bits alone"
                if bits
                else "logits lie close together"
            )
    return Condition(family, K, right, wrong, words + _named(bench, family, right), bits=bits)


def _named(bench: Bench, family: Family, right: float) -> str:
    """What the source calls the amount up to which rows are right, or one that is hardly less."""
    return named_as(bench, right, _NEAR) if family.whole and right > 1 else ""


def named_as(bench: Bench, right: float, near: float = 1.0) -> str:
    """What the source calls an amount, in brackets; empty where it names none.

    Args:
        bench: Where it is judged.
        right: The amount.
        near: Share of it that a constant may be instead.
    """
    constants = {name: value for name, value in _constants(bench).items() if near * right <= value <= right}
    if not constants:
        return ""
    value = max(constants.values())
    names = [name for name, each in constants.items() if each == value]
    return f" ({' or '.join(names)} of the source {'is' if len(names) == 1 else 'are'} {value})"


def _bits(bench: Bench, settled: Settled, K: int, wrong: int) -> int:
    """The fewest leading bits that so many logits must share to be wrong; 0 where that does not tell."""
    count = wrong + max(1, wrong // 6)
    low, high = _BITS
    if (
        bench.left < _LEFT
        or _fine(bench, settled, K, count, high)
        or not _fine(bench, settled, K, count, low)
    ):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fine(bench, settled, K, count, middle) else (low, middle)
    return high


def _fine(bench: Bench, settled: Settled, K: int, count: int, bits: int) -> bool:
    """Whether rows of which so many logits share so many leading bits, and no more, are right."""
    rng = bench.rng("leading bits", bits)
    rows = [Question(f"{bits} bits", sharing(rng, K, count, bits), K) for _ in range(_DRAWS)]
    return all(map(_right, ask(bench, settled, rows, seconds=_SECONDS)))
