"""Judging the challenge: is it fair to what is right, and hard on what is lazy?

The reference as a submission and what lies in ``right/`` must pass, what lies in ``wrong/`` must fail, and so
must answers that cost no thought. What passes that should not is a hole of the challenge.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.challenge import CASES, NUMBERS, TESTS, Challenge, Limits
from judge_tui.checks.challenges.description import Description, described
from judge_tui.checks.challenges.lazy import PROGRAMS, Lazy, lazy_answers
from judge_tui.checks.challenges.numbers.accuracy import asked, named_cases
from judge_tui.checks.challenges.numbers.comparing import compared
from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.challenges.numbers.parts import paired, parts
from judge_tui.checks.challenges.numbers.truths import Case, Truths
from judge_tui.checks.challenges.numbers.values import cast, has_floats
from judge_tui.checks.challenges.task import made
from judge_tui.checks.challenges.written import Written
from judge_tui.checks.contract import Contract
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.judged import unjudged
from judge_tui.checks.runner import judge
from judge_tui.checks.sandbox.packages import EVERY
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.trying.asked import unmet
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["Doing", "Tolerance", "Tried", "Wrong", "passing", "tried"]

#: Told what is tried, and by which check or in which case.
Doing = Callable[[str, str], None]

_SEEDS = (1, 2, 3)
_DOUBLE = "float64"
#: What a sleeping submission may take, so that nobody waits for it.
_SOON = Limits(seconds=0.5)
_OF_NOBODY = ("own_tests", "throughput", "size")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A looser rule: right is what is within ``absolute + relative * |reference|``, entry by entry."""

    absolute: float
    relative: float


@dataclass(frozen=True, slots=True)
class Wrong:
    """A submission that must fail.

    Attributes:
        path: Its folder.
        must_fail: Ids of the checks by which; empty where any will do.
    """

    path: Path
    must_fail: tuple[str, ...] = ()


class Tried(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one trial.

    Attributes:
        kind: ``names``, ``reference``, ``right``, ``wrong`` or ``lazy``.
        name: Which.
        fine: Whether the challenge did what it must.
        told: What killed it, or what it passed; a clause.
        same: Whether a lazy answer is the right one, bit for bit, in every case: it is none then.
    """

    kind: str
    name: str
    fine: bool
    told: str
    same: bool = False


def tried(
    challenge: Challenge,
    right: Sequence[Path] = (),
    wrong: Sequence[Wrong] = (),
    tolerance: Tolerance | None = None,
    doing: Doing = lambda what, part: None,
) -> Iterator[Tried]:
    """Try a challenge, one thing after another.

    Args:
        challenge: The challenge.
        right: Folders of submissions that must pass.
        wrong: Submissions that must fail.
        tolerance: A looser rule that lazy answers are held to instead of the challenge's own.
        doing: Told what is tried, and by which check or in which case, before it is.

    Raises:
        ChallengeFault: It cannot judge at all.
        Skipped: A package that it needs is missing here.
    """
    authors = Authors(challenge)
    try:
        yield from _misspelt(authors)
        doing("the challenge", "is read")
        description = described(challenge, authors)
        _judgeable(description)
        task = made(challenge)
        if description.numbers is not None and "reference" in description.numbers.functions:
            yield _reference(challenge, task, description.numbers, authors, doing)
        yield from _all_right(task, authors, right, doing)
        yield from (_wrong(task, each, doing) for each in wrong)
        if description.numbers is not None:
            yield from _lazy_numbers(Truths(authors, description.numbers), tolerance, doing)
        if {TESTS, CASES} & {*challenge.kinds}:
            yield from _lazy_programs(challenge, doing)
    finally:
        authors.close()


def _judgeable(description: Description) -> None:
    """Be sure that all of a challenge can judge: by a part of it nothing that must fail is judged.

    Raises:
        ChallengeFault: A part is off.
        Skipped: A package that it needs is missing here.
    """
    for trouble in (description.trouble, description.unread):
        if trouble is not None:
            raise trouble.error()
    for file in description.behaviour.files if description.behaviour is not None else ():
        if file.trouble is not None:
            raise file.trouble


def _misspelt(authors: Authors) -> Iterator[Tried]:
    """Names of a ``challenge.py`` that mean nothing there, and nearly something."""
    if NUMBERS in authors.folder.files:
        for name, line, meant in Written(authors.folder.read_bytes(NUMBERS)).misspelt():
            told = f"means nothing in challenge.py:{line}; did you mean {meant}?"
            yield Tried("names", name, False, told)


def _judged(
    task: Task, path: Path, name: str, doing: Doing, enough: Callable[[Outcome], bool] = lambda outcome: False
) -> dict[str, Outcome]:
    wanted = [check.id for check in task.checks if check.id not in _OF_NOBODY]
    answer = Submission(name, task.id, path)
    return _sound(
        judge(
            task,
            answer,
            seed=_SEEDS[0],
            checks=wanted,
            begins=lambda check: doing(name, check),
            enough=enough,
        )
    )


def _sound(outcomes: dict[str, Outcome]) -> dict[str, Outcome]:
    """Outcomes that say something of a submission.

    Raises:
        ChallengeFault: One says that the challenge itself is off.
    """
    for each in outcomes.values():
        if each.fault:
            raise ChallengeFault(each.summary.removeprefix("the challenge itself: "))
    return outcomes


def _is_bad(outcome: Outcome) -> bool:
    return outcome.verdict in (Verdict.FAIL, Verdict.ERROR)


def _failing(task: Task, outcomes: Mapping[str, Outcome]) -> list[Outcome]:
    """What keeps a submission from passing."""
    bad = [each for each in outcomes.values() if _is_bad(each)]
    if bad or not unjudged(task, outcomes.values()):
        return bad
    return [each for each in outcomes.values() if each.verdict in (Verdict.UNBOUND, Verdict.SKIP)]


def passing(task: Task, path: Path, name: str, doing: Doing) -> tuple[str, bool]:
    """What came of a submission, as a clause, and whether 'check' would exit 0 on it; one failure tells."""
    found = _judged(task, path, name, doing, enough=_is_bad)
    bad = _failing(task, found)
    return _clauses(bad[:1]) or f"passes {', '.join(found)}", not bad


def _clauses(outcomes: Sequence[Outcome]) -> str:
    return "; ".join(f"{each.check} {each.verdict}: {each.summary}" for each in outcomes[:3])


def _reference(challenge: Challenge, task: Task, numbers: Numbers, authors: Authors, doing: Doing) -> Tried:
    """The reference as a submission: its own code, called as a solution is."""
    drawn = [p.name for p in numbers.parameters if p.drawn]
    listed = ", ".join(f"{name}={name}" for name in drawn)
    text = (
        f"import challenge\n\n\ndef solution({', '.join(drawn)}):\n    return challenge.reference({listed})\n"
    )
    open_task = replace(task, contract=_opened(task.contract))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "reference", challenge.id)
        folder.mkdir(parents=True)
        for file in authors.folder.files:
            if file.endswith(".py") and "/" not in file:
                (folder / file).write_bytes(authors.folder.read_bytes(file))
        (folder / "solution.py").write_text(text)
        wanted = [
            each for each in ("accuracy", "edge_cases", "purity", *numbers.properties) if each in task.by_id
        ]
        found = judge(
            open_task, Submission("reference", task.id, folder), seed=_SEEDS[0], checks=wanted,
            begins=lambda check: doing("the reference", check),
        )  # fmt: skip
    bad = [each for each in found.values() if each.verdict not in (Verdict.PASS, Verdict.SKIP)]
    told = _clauses(bad) or found["accuracy"].summary
    return Tried("reference", "the reference", not bad, told)


def _opened(contract: Contract) -> Contract:
    """The same contract, for code that may import whatever is installed."""
    otherwise = contract.otherwise and _opened(contract.otherwise)
    return replace(contract, packages=frozenset(EVERY), otherwise=otherwise)


def _all_right(task: Task, authors: Authors, right: Sequence[Path], doing: Doing) -> Iterator[Tried]:
    """What must pass; where none does, first the names that the tests ask for and that none of it has."""
    judged: Iterable[Tried] = (_right(task, path, doing) for path in right)
    if asked := list(unmet(authors.folder, right)):
        judged = list(judged)
        if not any(each.fine for each in judged):
            yield from (Tried("names", name, False, told) for name, told in asked)
    yield from judged


def _right(task: Task, path: Path, doing: Doing) -> Tried:
    found = _judged(task, path, path.name, doing)
    bad = _failing(task, found)
    warned = _clauses([each for each in found.values() if each.verdict is Verdict.WARN])
    return Tried("right", path.name, not bad, _clauses(bad) or "; ".join(filter(None, ("passes", warned))))


def _wrong(task: Task, wrong: Wrong, doing: Doing) -> Tried:
    found = _judged(task, wrong.path, wrong.path.name, doing)
    failing = {each.check for each in found.values() if each.verdict is Verdict.FAIL}
    if unknown := [check for check in wrong.must_fail if check not in task.by_id]:
        raise ChallengeFault(
            f"must_fail names '{unknown[0]}', and the task has no such check.",
            hint=f"It has: {', '.join(task.by_id)}.", file=wrong.path / "submission.toml",
        )  # fmt: skip
    missed = [check for check in wrong.must_fail if check not in failing]
    if missed or not failing:
        told = "; ".join(f"{c} {found[c].verdict}: {found[c].summary}" for c in missed if c in found)
        return Tried("wrong", wrong.path.name, False, told or "nothing fails it")
    by = [found[check] for check in wrong.must_fail or sorted(failing)]
    return Tried("wrong", wrong.path.name, True, _clauses(by))


@dataclass(slots=True)
class _Fate:
    """What came of a lazy answer over all cases.

    Attributes:
        killed: What killed it first, and how far off it was.
        margin: The widest margin, as a multiple of the limit.
        same: Whether it was the right answer in every case so far.
    """

    killed: str = ""
    margin: float = 0.0
    same: bool = True

    def tried(self, name: str, cases: int) -> Tried:
        """The same as what came of a trial."""
        if self.same and not self.killed:
            return Tried("lazy", name, True, "is the right answer in every case", same=True)
        if not self.killed:
            return Tried("lazy", name, False, f"passes all {cases} cases")
        wide = 0 < self.margin < math.inf
        widest = f", the widest margin {self.margin:.2g} times the limit" if wide else ""
        return Tried("lazy", name, True, self.killed + widest)


@dataclass(frozen=True, slots=True)
class _Point:
    """A case in one dtype, with the right answer and what may be off.

    Attributes:
        label: The case and the dtype, in words.
        dtype: Of the inputs.
        inputs: Name → value.
        right: The reference's answer in float64.
        limits: Part of the answer → its limit; empty where the author's own check decides.
    """

    label: str
    dtype: str
    inputs: Mapping[str, Any]
    right: Any
    limits: Mapping[str, float]


def _lazy_numbers(truths: Truths, tolerance: Tolerance | None, doing: Doing) -> Iterator[Tried]:
    """Lazy answers, held against the reference's as a submission's are; no submission is run."""
    if "reference" not in truths.numbers.functions:
        return
    points: list[_Point] = []
    for seed in _SEEDS:
        for point in _points(truths, seed):
            doing("the right answers", point.label)
            points.append(point)
    first = points[0].right
    for lazy in lazy_answers(first):
        fate = _Fate()
        for point in points:
            doing(lazy.name, point.label)
            if not (lazy.wide and np.dtype(point.dtype).itemsize < 4):
                _hold(truths, lazy, point, first, tolerance, fate)
        yield fate.tried(lazy.name, len(points))


def _points(truths: Truths, seed: int) -> Iterator[_Point]:
    """Every case in every dtype that it is handed over in."""
    for case in truths.cases(np.random.default_rng(seed)):
        for dtype in truths.numbers.dtypes if has_floats(dict(case.inputs)) else (_DOUBLE,):
            yield _point(truths, case, dtype)
    if "edge_cases" in truths.numbers.functions:
        for case in named_cases(truths, np.random.default_rng(seed)):
            yield _point(truths, case, _DOUBLE)


def _point(truths: Truths, case: Case, dtype: str) -> _Point:
    inputs = cast(dict(case.inputs), dtype)
    own = "check" in truths.numbers.functions
    limits = {} if own else truths.limits(inputs, dtype, np.random.default_rng(0))
    return _Point(f"{case.label}, {dtype}", dtype, inputs, truths.answer(cast(inputs, _DOUBLE)), limits)


def _hold(
    truths: Truths, lazy: Lazy, point: _Point, first: Any, tolerance: Tolerance | None, fate: _Fate
) -> None:
    """Hold a lazy answer against the reference's in one case."""
    with np.errstate(all="ignore"):
        answer = lazy.answer(point.right, point.inputs, first)
        off = compared(answer, point.right)
        if not off.wrong and off.error == 0:
            return
        fate.same = False
        wrong, margin = _verdict(truths, answer, point, tolerance)
    fate.margin = max(fate.margin, margin)
    if wrong and not fate.killed:
        fate.killed = f"{point.label}: {wrong}"


def _verdict(truths: Truths, answer: Any, point: _Point, tolerance: Tolerance | None) -> tuple[str, float]:
    """Why an answer is not taken, empty where it is; and its error as a multiple of the limit."""
    if tolerance is not None:
        return ("" if _within(answer, point.right, tolerance) else "beyond the tolerance that was given"), 0.0
    if not point.limits:
        return asked(truths.authors.here(), answer, point.inputs), 0.0
    try:
        pairs = paired(_outputs(answer, truths.numbers), point.right, truths.numbers)
    except (ValueError, TypeError, StopIteration):
        return "another number of results", 0.0
    margin = 0.0
    for name, (mine, part) in pairs.items():
        found = compared(mine, part)
        if found.wrong:
            return found.told, 0.0
        limit = point.limits[name]
        margin = max(margin, math.inf if math.isnan(found.error) else found.error / (limit or 1e-300))
        if not found.error <= limit:
            return f"{found.error:.2g} off, at most {limit:.2g}", margin
    return "", margin


def _outputs(answer: Any, numbers: Numbers) -> dict[str, Any]:
    """An answer as it is taken of a submission: what is plain data as a whole."""
    return {numbers.outputs[0].name: answer} if numbers.plain else parts(answer, numbers)


def _within(answer: Any, right: Any, tolerance: Tolerance) -> bool:
    """Whether an answer passes under a looser rule."""
    if isinstance(right, (tuple, list)):
        alike = isinstance(answer, (tuple, list)) and len(answer) == len(right)
        return alike and all(_within(one, other, tolerance) for one, other in zip(answer, right, strict=True))
    try:
        mine, truth = np.asarray(answer, np.float64), np.asarray(right, np.float64)
    except (TypeError, ValueError):
        return not compared(answer, right).wrong
    return mine.shape == truth.shape and bool(
        np.allclose(mine, truth, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True)
    )


def _lazy_programs(challenge: Challenge, doing: Doing) -> Iterator[Tried]:
    """Lazy programs against the tests and the cases."""
    soon = _hurried(challenge)
    for name, text in PROGRAMS.items():
        task = made(soon if name == "sleeping" else challenge)
        # what numbers make of lazy answers was tried without a process
        own = [check for check in task.checks if check.id in _own(task) and not check.roles]
        with ExitStack() as held:
            place = held.enter_context(tempfile.TemporaryDirectory())
            folder = Path(place, name, challenge.id)
            folder.mkdir(parents=True)
            (folder / _file(challenge)).write_text(text or "# nothing\n")
            lazy = Submission(name, task.id, folder)
            begins = partial(doing, f"the {name} one")
            found = _sound(judge(task, lazy, seed=_SEEDS[0], checks=[c.id for c in own], begins=begins))
        passing = [each for each in found.values() if each.verdict in (Verdict.PASS, Verdict.WARN)]
        stopped = [each for each in found.values() if each.verdict not in (Verdict.PASS, Verdict.WARN)]
        fine = bool(stopped)
        told = _clauses(stopped[:1]) if fine else f"passes {', '.join(each.check for each in passing)}"
        yield Tried("lazy", f"the {name} one", fine, told)


def _own(task: Task) -> set[str]:
    return {check for checks in task.answers.values() for check in checks}


def _file(challenge: Challenge) -> str:
    entry = challenge.settings.entry.partition(":")[0]
    return entry if entry.endswith(".py") and "/" not in entry else "solution.py"


def _hurried(challenge: Challenge) -> Challenge:
    """The same challenge with so little time that nobody waits for a sleeper."""
    settings = msgspec.structs.replace(challenge.settings, limits=_SOON, group_limits={})
    return msgspec.structs.replace(challenge, settings=settings)
