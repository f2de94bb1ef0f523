"""Judging the challenge: is it fair to what is right, and hard on what is lazy?

The reference as a submission and what lies in ``right/`` must pass, what lies in ``wrong/`` must fail, and so
must answers that cost no thought. What passes that should not is a hole of the challenge.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec

from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.challenge import CASES, NUMBERS, TESTS, Challenge, Limits
from judge_tui.checks.challenges.description import Description, described
from judge_tui.checks.challenges.lazy import PROGRAMS
from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.challenges.numbers.truths import Truths
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
from judge_tui.checks.trying.lazy_numbers import Tolerance, lazy_numbers
from judge_tui.checks.trying.trial import SEEDS, Doing, Tried
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["Wrong", "passing", "tried"]

#: What a sleeping submission may take, so that nobody waits for it.
_SOON = Limits(seconds=0.5)
_OF_NOBODY = ("own_tests", "throughput", "size")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A submission that must fail.

    Attributes:
        path: Its folder.
        must_fail: Ids of the checks by which; empty where any will do.
    """

    path: Path
    must_fail: tuple[str, ...] = ()


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
            yield from lazy_numbers(Truths(authors, description.numbers), tolerance, doing)
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
            seed=SEEDS[0],
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
            open_task, Submission("reference", task.id, folder), seed=SEEDS[0], checks=wanted,
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
            found = _sound(judge(task, lazy, seed=SEEDS[0], checks=[c.id for c in own], begins=begins))
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
