"""Which K are served: the largest that is right, and whether the others are refused or answered wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.own_sizes import named
from judge_tui.checks.sizes import About
from judge_tui.checks.tasks.fuse.asking import Asked, Question, ask, event_line, served, usual
from judge_tui.checks.tasks.fuse.between_blocks import raced
from judge_tui.checks.tasks.fuse.by_entry import from_place
from judge_tui.checks.tasks.fuse.conditions import named_as
from judge_tui.checks.tasks.fuse.correct import draw
from judge_tui.checks.tasks.fuse.driver import NOT_INSTANTIATED
from judge_tui.checks.tasks.fuse.kept import kept_from_launches
from judge_tui.checks.tasks.fuse.launcher import Launcher
from judge_tui.checks.tasks.fuse.sums import wrong_sum
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

__all__ = ["k_range"]

#: As TASKS lists them; V itself is asked for at small V.
_NUMBERS = (1, 10, 32, 33, 64, 100, 256)
_ROWS, _LEAST_V, _MOST_V = 3, 400, 560
_WHOLE = (40, 64, 300)
#: Axes of which the source may name sizes, what they may be because of it, and entries times K of a launch.
_AXES = {"K": (1, 300), "V": (2, 8300), "rows": (1, 70)}
_MOST_ABOUT, _MOST_WORK = 10, 600_000


#: A K for which the code instantiates nothing: nobody refused it.
_ABSENT = "no instance"


class _Kind(Enum):
    """How a K is answered."""

    NOT_RUN = auto()
    REFUSED = auto()
    RIGHT = auto()
    WRONG = auto()


@dataclass(frozen=True, slots=True)
class _State:
    """What it does at one K, and in which words."""

    kind: _Kind
    text: str


@check(
    "k_range",
    "which K are served",
    establishes="Every K is answered rightly or refused; nothing is written past the output.",
    budget=300,
    version=11,
)
def k_range(bench: Bench, found: Findings) -> str:
    """Ask for K = 1, 10, 32, 33, 64, 100, 256 and V, every instance of a template, what the source names."""
    settled = served(bench)
    launcher = settled.launcher
    asked = _asked(bench, settled)
    rows = [("K", "rows", "V", "rows right", "what it does")]
    right = [each.question.K for each in asked if each.right]
    largest = max(right, default=0)
    refused: list[int] = []
    absent: list[int] = []
    wrong: list[Asked] = []
    for each in asked:
        K, (count, V) = each.question.K, each.question.logits.shape
        state = _state(found, launcher, each, guarded=bool(launcher.host and right) and largest < K)
        rows.append((str(K), str(count), str(V), str(each.rows_right), state.text))
        refused += [K] if state.kind is _Kind.REFUSED else []
        absent += [K] if state.text == _ABSENT else []
        wrong += [each] if state.kind is _Kind.WRONG else []
    file, line = launcher.file, launcher.line or None
    found.note("largest K that is right", largest, file=file, line=line, table=tuple(rows))
    refused = [K for K in refused if K not in absent]
    if absent:
        told = ", ".join(str(K) for K in sorted(set(absent)))
        found.note("K without an instance", told, file=file, line=line, note="The code instantiates others.")
    if refused:
        told = ", ".join(str(K) for K in sorted(set(refused)))
        found.note("refused K", told, file=file, line=line, note="Refusing is no failure.")
    if wrong:
        return _wrongly(bench, found, settled, asked, wrong, largest)
    if not right:
        found.conclude(Verdict.SKIP)
        return "no K that was asked for was answered"
    rest = f"; {len(set(refused))} others refused" if refused else ""
    rest += f"; for {len(set(absent))} others its template has no instance" if absent else ""
    silent = "; some without an error code" if found.verdict is Verdict.WARN else ""
    return f"right up to K = {largest}{rest}{silent}"


def _wrongly(
    bench: Bench,
    found: Findings,
    settled: Settled,
    asked: Sequence[Asked],
    wrong: Sequence[Asked],
    largest: int,
) -> str:
    """The summary where some K are wrong, the largest that is right being known."""
    first = next((each for each in wrong if largest >= each.question.K), wrong[0])
    what = first.wrong or _outside(first)
    if kept := kept_from_launches(bench, found, settled, first) if first.wrong else "":
        return f"{first.question.label} ({first.question.shape}): {kept}: {what}"
    told = f"{first.question.label} ({first.question.shape}): {what}"
    if race := raced(wrong, asked):
        return f"{told}: {race}"
    told += wrong_sum(bench, found, settled, [first, *(each for each in wrong if each is not first)])
    place = from_place(first)
    told += f": {place}" if place else ""
    up_to = f"right up to K = {largest}"
    if found.verdict is Verdict.FAIL:
        beyond = 0 < largest < min(each.question.K for each in wrong)
        return f"{up_to}{named_as(bench, largest)} alone: {told}" if beyond else told
    return f"{up_to}; launched without {settled.launcher.host}, which may refuse more: {told}"


def _outside(asked: Asked) -> str:
    """What a launch with right rows did out of bounds, as a clause."""
    told = next((event.text for event in asked.answer.events if event.kind == "out_of_bounds"), "")
    return f"out of bounds: {told}" if told else "writes past its output"


def _asked(bench: Bench, settled: Settled) -> list[Asked]:
    """One row at each K, at each V that is K as well, and several rows at each K."""
    rng, sizes = bench.rng("numbers"), bench.sizes("numbers")
    V = sizes.between(_LEAST_V, _MOST_V)
    known = (*settled.answered, *settled.launcher.instances, sizes.between(2, _LEAST_V))
    numbers = sorted({*_NUMBERS, *(K for K in known if K <= _LEAST_V)})
    questions = [Question(f"K = {K}", draw(rng, 1, V), K) for K in numbers]
    questions += [Question(f"K = V = {whole}", draw(rng, 1, whole), whole) for whole in _WHOLE]
    questions += [
        each for each in map(partial(_about, bench, settled), named(bench, _AXES, _MOST_ABOUT)) if each
    ]
    return [*ask(bench, settled, questions), *_several(bench, settled, numbers, V)]


def _about(bench: Bench, settled: Settled, one: About) -> Question | None:
    """A launch at sizes that the source names; none where K is more than there are, or it would take long."""
    sizes = bench.sizes("about", one.words)
    V = one.at.get("V") or max(sizes.between(_LEAST_V, _MOST_V), one.at.get("K", 0))
    K = one.at.get("K") or min(usual(settled, 10), V)
    rows = one.at.get("rows", 1)
    if K > V or rows * V * K > _MOST_WORK:
        return None
    return Question(str(one), draw(bench.rng("about", one.words), rows, V), K)


def _several(bench: Bench, settled: Settled, numbers: Sequence[int], V: int) -> list[Asked]:
    """Several rows at each K; where rows are mixed up at every K, that is not about K."""
    rng = bench.rng("several")
    questions = [Question(f"K = {K}, {_ROWS} rows", draw(rng, _ROWS, V), K) for K in numbers]
    asked = ask(bench, settled, questions)
    return asked if any(each.right for each in asked) else []


def _state(found: Findings, launcher: Launcher, each: Asked, *, guarded: bool) -> _State:
    """Judge one K.

    Args:
        found: Evidence goes there.
        launcher: That was asked.
        each: The question and its answer.
        guarded: Whether a host function that is not run here may refuse this K: then being wrong warns.
    """
    otherwise = Verdict.WARN if guarded else Verdict.FAIL
    unasked = f"Launched without {launcher.host}, which may refuse it." if guarded else ""
    file, line = event_line(each.answer, launcher)
    where = {"file": file, "line": line or None}
    rows, V = each.question.logits.shape
    title = f"{each.question.label} (V = {V}), rows right"
    if each.undecided:
        return _State(_Kind.NOT_RUN, "not run")
    if each.refused and each.answer.code == NOT_INSTANTIATED and "K" in launcher.template:
        return _State(_Kind.REFUSED, _ABSENT)
    if each.refused:
        return _State(_Kind.REFUSED, f"refused with code {each.answer.code}")
    past = next((event for event in each.answer.events if event.kind == "out_of_bounds"), None)
    if past is not None:
        found.claim(
            title, False, measured=f"out of bounds: {past.text}", limit=rows, note=unasked,
            otherwise=otherwise, **where,  # type: ignore[arg-type]
        )  # fmt: skip
        return _State(_Kind.WRONG, "wrong: out of bounds")
    nothing = each.read is not None and bool(each.read.unwritten.all())
    if nothing and launcher.returns == "nothing":
        found.claim(
            title, False, measured="nothing is written, and no code says so", limit=rows,
            otherwise=Verdict.WARN, **where,  # type: ignore[arg-type]
        )  # fmt: skip
        return _State(_Kind.REFUSED, "refused in silence")
    measured = each.rows_right if each.compared is not None else each.wrong
    note = " ".join(part for part in (_sentence(each.wrong), "" if each.right else unasked) if part)
    found.claim(title, each.right, measured=measured, limit=rows, note=note, otherwise=otherwise, **where)  # type: ignore[arg-type]
    return _State(_Kind.RIGHT, "right") if each.right else _State(_Kind.WRONG, f"wrong: {each.wrong}")


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}." if clause else ""
