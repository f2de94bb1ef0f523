"""Settling how a submission is launched: small runs of what was found, and the stride that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from judge_tui.checks.cuda.emulator import Answer, Case, Failure
from judge_tui.checks.cuda.emulator.reports import FORGED
from judge_tui.checks.cuda.reading import Reading
from judge_tui.checks.faults import Unbound
from judge_tui.checks.tasks.fuse.answers import entries
from judge_tui.checks.tasks.fuse.driver import driver, encoded, included
from judge_tui.checks.tasks.fuse.launcher import Launcher, stride_of
from judge_tui.checks.tasks.fuse.launchers import candidates, host_of, variants
from judge_tui.checks.tasks.fuse.reference import compared
from judge_tui.checks.tasks.fuse.signature import lacking

__all__ = ["Builder", "Runnable", "Settled", "settle"]

#: Numbers K that a launcher with a run-time K is asked for until it answers.
_TRIED_K = (10, 5, 32, 16, 64, 8, 4, 20, 50, 1, 128, 256)
_ROWS, _V = 6, 400
_SECONDS = 40.0
_MOST_CANDIDATES = 8
#: A probability this far off is another thing's.
_CLOSE = 1e-2
_STEPS = (4, 8, 16, 32)


class Runnable(Protocol):
    """A program that launches a submission."""

    def run(self, cases: Sequence[Case], *, budget_s: float) -> list[Answer]:
        """Run cases."""


#: Driver text → a program, or why there is none.
Builder = Callable[[str], "Runnable | Failure"]


@dataclass(slots=True)
class Settled:
    """How a submission is launched, and the program that does it.

    Attributes:
        launchers: The one that is bound, and its variants after it.
        program: Launches them by number.
        answered: Numbers K for which the bound one answered in the trial; rightly, where a kernel is launched
            without its host function, which may refuse the others.
        refused: Numbers K that it refused, with its code.
        tried: What else was tried, and how it failed.
        score: Share of the trial's rows that were right.
    """

    launchers: tuple[Launcher, ...]
    program: Runnable
    answered: tuple[int, ...] = ()
    refused: Mapping[int, int] = field(default_factory=dict)
    tried: tuple[str, ...] = ()
    score: float = 0.0

    @property
    def launcher(self) -> Launcher:
        """The one that is bound."""
        return self.launchers[0]


@dataclass(frozen=True, slots=True)
class _Tried:
    launcher: Launcher
    ran: bool
    score: float
    answered: tuple[int, ...]
    refused: Mapping[int, int]
    said: str
    counts: bool = False

    @property
    def broken(self) -> bool:
        """Whether nothing about it was guessed, and it ended on every K, which is no refusal."""
        return not self.ran and not self.refused and not self.launcher.doubts

    @property
    def settles(self) -> bool:
        """Whether nothing else need be tried; what forges a report does so however it is launched."""
        sure = self.ran and not self.launcher.doubts
        return self.score == 1.0 or sure or (self.broken and self.said == FORGED)


class BuildFailed(Exception):
    """No candidate could be built.

    Args:
        failure: The likeliest candidate's.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def settle(
    reading: Reading,
    build: Builder,
    rng: np.random.Generator,
    written: Launcher | None = None,
    *,
    kernels: bool = False,
) -> Settled:
    """Find the launcher, confirm it by small runs, and build the program that the checks use.

    Args:
        reading: Of the repaired sources.
        build: Makes a program of a driver.
        rng: Draws the trial's inputs.
        written: A launcher that a person wrote; then nothing is looked for.
        kernels: Look at kernels alone, where the host's part does not compile.

    Raises:
        Unbound: There is no candidate, or only guesses, none of which gave a right row.
        BuildFailed: No candidate can be built.
    """
    found = [written] if written else candidates(reading)
    found = [replace(each, host=host_of(reading, each)) for each in found]
    options = [each for each in found if each.kernel or not kernels][:_MOST_CANDIDATES]
    if not options:
        raise Unbound("fuse", _seen(reading))
    notes: list[str] = []
    failure: Failure | None = None
    #: Files → why nothing that includes them is built.
    hopeless: dict[tuple[str, ...], Failure] = {}
    attempts: list[_Attempt] = []
    for guessed in _groups(reading, options):
        group = guessed
        best = _best(attempts)
        if best is not None and best[0].score > 0 and group[0].target != best[0].launcher.target:
            # Of what gave right rows other guesses may give more; another function is another answer.
            break
        files = included(group)
        program = hopeless.get(files) or build(driver(group))
        if isinstance(program, Failure):
            if program.own:
                hopeless[files] = program
            failure = failure or program
            notes.append(f"{group[0].target}: cannot be built: {program.reason}")
            continue
        tried = _tried(program, group[0], rng)
        if tried.counts and not written:
            group, program, tried = _counting(group, program, tried, build, rng)
        notes += [] if tried.score == 1.0 else [f"{group[0].target}: {group[0].called}: {tried.said}"]
        attempts.append((tried, group, program))
        if tried.settles:
            break
    if not attempts:
        assert failure is not None
        raise BuildFailed(failure)
    tried, group, program = _chosen(attempts)
    if tried.score == 0.0 and tried.launcher.doubts and not written:
        guess = f"{' and '.join(tried.launcher.doubts)} had to be guessed, and no guess gave a right row"
        raise Unbound("fuse", (*notes, guess))
    launchers = (tried.launcher, *(replace(each, stride=tried.launcher.stride) for each in group[1:]))
    return Settled(launchers, program, tried.answered, tried.refused, tuple(notes), tried.score)


_Attempt = tuple[_Tried, tuple[Launcher, ...], Runnable]


def _best(attempts: Sequence[_Attempt]) -> _Attempt | None:
    """The first of those that gave most right rows, or ran at all."""
    return max(attempts, key=lambda each: (each[0].score, each[0].ran), default=None)


def _chosen(attempts: Sequence[_Attempt]) -> _Attempt:
    """The best; a wrong guess gives way to what is meant beyond doubt and ends whatever it is asked."""
    best = max(attempts, key=lambda each: (each[0].score, each[0].ran))
    if best[0].score > 0 or not best[0].launcher.doubts:
        return best
    return next((each for each in attempts if each[0].broken), best)


def _counting(
    group: tuple[Launcher, ...],
    program: Runnable,
    tried: _Tried,
    build: Builder,
    rng: np.random.Generator,
) -> tuple[tuple[Launcher, ...], Runnable, _Tried]:
    """The same launchers where what they give is how much they did, so that 0 is the failure."""
    told = tuple(replace(each, returns="count") for each in group)
    counted = build(driver(told))
    if isinstance(counted, Failure):
        return group, program, tried
    return told, counted, _tried(counted, told[0], rng)


def _seen(reading: Reading) -> list[str]:
    functions = [*reading.hosts, *reading.kernels]
    return [
        f"{each.file}:{each.name}: {lacking(each)} ({', '.join(map(str, each.parameters))})"
        for each in functions[:8]
    ]


def _groups(reading: Reading, options: Sequence[Launcher]) -> Iterator[tuple[Launcher, ...]]:
    """What is built together: a candidate with its variants, or alone where that cannot be built."""
    for option in options:
        varied = variants(reading, option)
        if varied:
            yield (option, *varied)
        yield (option,)


def _tried(program: Runnable, launcher: Launcher, rng: np.random.Generator) -> _Tried:
    """Ask for several K; the first that is answered decides, the others tell what it serves."""
    numbers = [K for K in (launcher.instances or _TRIED_K) if K <= _V]
    numbers = sorted(numbers, key=lambda K: (K not in (5, 8, 10, 16), K))
    logits = rng.normal(size=(_ROWS, _V)).astype(np.float32)
    # a kernel that mixes up its rows may still be right on one
    one = rng.normal(size=(1, _V)).astype(np.float32)
    index = "int64" if launcher.index == "int64" else "int32"
    cases = [
        Case(each, encoded(K, 0), max(4 * K, K + 64), index)  # type: ignore[arg-type]
        for each in (logits, one)
        for K in numbers
    ]
    given = program.run(cases, budget_s=_SECONDS)
    answers = dict(zip(numbers, given[: len(numbers)], strict=True))
    alone = dict(zip(numbers, given[len(numbers) :], strict=True))
    done = {K: answer for K, answer in answers.items() if answer.status in ("done", "failed")}
    # a function without a result that writes nothing has no other way to refuse
    spoken = {K: answer for K, answer in done.items() if not _silent(launcher, answer)}
    done = spoken or done
    refused = {K: answer.code for K, answer in answers.items() if answer.status == "refused"}
    if not done:
        first = answers[numbers[0]]
        said = f"refuses every K that was tried (code {first.code})" if refused else first.ended
        counts = _counts(launcher, logits, answers)
        return _Tried(launcher, False, 0.0, (), refused, said or first.status, counts)
    rule, score = _rule(launcher, logits, done)
    single = {K: answer for K, answer in alone.items() if K in done}
    score = (score + _share(one, single, rule)) / 2
    said = f"{score:.0%} of the rows right"
    served = [K for K in sorted(done) if not launcher.host or _share(logits, {K: done[K]}, rule) == 1.0]
    return _Tried(replace(launcher, stride=rule), True, score, tuple(served or sorted(done)), refused, said)


def _counts(launcher: Launcher, logits: npt.NDArray[np.float32], answers: Mapping[int, Answer]) -> bool:
    """Whether a function that never gives 0 gives a positive number where it answers rightly."""
    positive = {K: a for K, a in answers.items() if a.status == "refused" and a.code > 0}
    if launcher.kernel or launcher.returns != "number":
        # A code of CUDA's is an error, whatever was written before it.
        return False
    return any(_rule(launcher, logits, {K: answer})[1] == 1.0 for K, answer in positive.items())


def _silent(launcher: Launcher, answer: Answer) -> bool:
    """Whether a function that returns nothing has written nothing."""
    if launcher.returns != "nothing" or answer.status != "done" or answer.indices is None:
        return False
    rows, stride = answer.indices.shape
    return bool(entries(answer, rows, stride, stride).unwritten.all())


def _rule(
    launcher: Launcher, logits: npt.NDArray[np.float32], done: Mapping[int, Answer]
) -> tuple[str, float]:
    """The rule for the output's stride under which most rows are right, and their share."""
    if launcher.origin != "found":
        return launcher.stride, _share(logits, done, launcher.stride)
    rules = ["K", *(f"ceil {step}" for step in _STEPS)]
    known = sorted({*launcher.instances, *done})
    rules += [", ".join(map(str, known[at:])) for at in range(len(known))]
    rules += [str(number) for number in (32, 64, 128, 256) if number >= max(done)]
    scored = {rule: _share(logits, done, rule) for rule in dict.fromkeys(rules)}
    best = max(scored.values())
    return next(rule for rule, score in scored.items() if score == best), best


def _share(logits: npt.NDArray[np.float32], done: Mapping[int, Answer], rule: str) -> float:
    shares = []
    for K, answer in done.items():
        stride = stride_of(rule, K)
        if answer.indices is None or stride * len(logits) > answer.indices.size:
            shares.append(0.0)
            continue
        read = entries(answer, len(logits), K, stride)
        found = compared(logits, K, read.indices, read.probabilities, read.unwritten)
        shares.append(float(found.right(_CLOSE).mean()))
    return sum(shares) / len(shares)
