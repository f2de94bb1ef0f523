"""Where a submission goes wrong: the lines that run in every wrong answer and in few right ones.

A check that fails on some answers and not on others is asked again on a copy of the submission that keeps
account of its lines; what it runs in wrong answers alone is a path of its own, and is told by the condition
that leads there. It names a place, not a cause, and decides nothing.

Source: fault localisation by spectra of programs (Jones and Harrold, Tarantula, 2005), of which only what
tells the answers apart is kept.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb

import numpy as np

from judge_tui.checks.answers import Answer, Answers
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.handover import Target
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.edited_bench import bench_of_edited
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Fault
from judge_tui.checks.paths.counting import SEEN, counting
from judge_tui.checks.paths.guards import guard

__all__ = ["Path", "path_of", "told"]

#: A file's name and a line of it.
_Line = tuple[str, int]

#: Right answers that a path leaves out at least, and the share of wrong ones among those that take it.
_RIGHT, _SHARE = 6, 0.3
#: Chance may put every wrong answer on one of the paths once in so many times; and on what all others take.
_CHANCE, _CHANCE_LEFT = 50, 1000
#: Seconds that a check has taken at most which is asked again, and characters that its sources have.
_QUICK, _MOST_READ = 20.0, 200_000
#: It may take so many times as long again, and so many seconds more.
_TIMES, _START = 2.0, 5.0
_OF_A_MASK = re.compile(r"(else of )?if (not )?[\w.]*causal\w*")
QUANTITY = "answers that take this path"


@dataclass(frozen=True, slots=True)
class Path:
    """Lines that run in every wrong answer, or in none.

    Attributes:
        file: Their file.
        line: The first of them.
        runs: Whether they run where an answer is wrong; else they do not there.
        met: Answers of which that holds.
        wrong: Those of them that are wrong: all wrong ones.
        others: Answers of which it does not hold: right ones.
        guard: What leads to the lines, as a piece of code; empty where nothing does.
    """

    file: str
    line: int
    runs: bool
    met: int
    wrong: int
    others: int
    guard: str = ""

    def __str__(self) -> str:
        how = "runs" if self.runs else "does not run"
        led = f" ({self.guard})" if self.guard else ""
        some = f", in {self.wrong} of {self.met} answers, and nowhere else"
        only = ", and only there" if self.met == self.wrong else some
        return f"wrong where {self.file}:{self.line} {how}{led}{only}"


def told(check: Check, bench: Bench, found: Findings, seconds: float) -> str:
    """Where a check that failed went wrong, as a clause; empty where nothing tells its answers apart.

    Args:
        check: It.
        bench: Where it ran.
        found: Its findings, to which the path is added.
        seconds: What it took.
    """
    answers = bench.answers
    if bench.place.gpu or seconds > _QUICK or answers.right < _RIGHT:
        return ""
    path = path_of(check, bench, answers, _TIMES * seconds + _START)
    if path is None:
        return ""
    found.note(
        QUANTITY, f"{path.wrong} of {path.met} wrong, {path.others} others right",
        file=path.file, line=path.line, note=str(path),
    )  # fmt: skip
    # that there is a mask, the check says itself
    return "" if _OF_A_MASK.fullmatch(path.guard) else str(path)


def path_of(check: Check, bench: Bench, answers: Answers, seconds: float) -> Path | None:
    """The lines that tell a check's wrong answers from its right ones.

    Args:
        check: It.
        bench: Where it ran.
        answers: What it was answered there.
        seconds: What it may take of the submission's own time.
    """
    with contextlib.suppress(JudgeError, Fault, SyntaxError, RecursionError, UnicodeDecodeError):
        files = tuple(file for file in bench.bindings.loaded if file.endswith(".py"))
        sources = {file: bench.submission.path.joinpath(file).read_text("utf-8") for file in files}
        edited = bench.submission
        if sum(map(len, sources.values())) > _MOST_READ:
            return None
        for file, source in sources.items():
            edited = edited.edited(file, counting(source))
        watching = _Watching(bench, bench_of_edited(bench, edited, Bench), files, len(answers.asked))
        return _distinct(watching.runs(check, answers.asked, min(seconds, check.budget)), sources)
    return None


@dataclass(frozen=True, slots=True)
class _Run:
    """What ran while an answer was made.

    Attributes:
        lines: Those that did.
        answer: Whether it is right.
    """

    lines: frozenset[_Line]
    answer: Answer


@dataclass(slots=True)
class _Watching:
    """A check that is asked again on a submission that keeps account of its lines.

    Attributes:
        of: The bench of the submission as it is; where that is stopped, so is this.
        bench: Of that submission.
        files: Those that keep account.
        count: Answers after which no more is asked.
        made: What ran while each was made.
    """

    of: Bench
    bench: Bench
    files: Sequence[str]
    count: int
    made: list[_Run] = field(default_factory=list)

    def runs(self, check: Check, before: Sequence[Answer], budget: float) -> list[_Run]:
        """What ran while each answer was made that is known to be right or wrong.

        Args:
            check: That asks.
            before: The same answers of the submission as it is.
            budget: Seconds, in the submission's own time.
        """
        bench = self.bench
        bench.begin(check.id, budget)
        bench.answers.begins, bench.answers.ends = self._begins, self._ends
        try:
            with contextlib.suppress(_Enough, JudgeError, Fault), np.errstate(all="ignore"):
                check.body(bench, Findings())
        finally:
            bench.close()
        # what is told of an answer after the last one is known of the others alone
        runs = [
            run if run.answer.fine is not None else _Run(run.lines, known)
            for run, known in zip(self.made, before, strict=False)
        ]
        return [run for run in runs if run.answer.fine is not None]

    def _begins(self) -> None:
        if self.of.stopped:
            raise _Enough
        self._taken()

    def _ends(self, answer: Answer) -> None:
        if (ran := self._taken()) is None:
            raise _Enough
        self.made.append(_Run(ran, answer))
        if len(self.made) >= self.count:
            raise _Enough

    def _taken(self) -> frozenset[_Line] | None:
        """The lines that ran since they were taken last; None where that cannot be told."""
        worker, ran = self.bench.worker, set[_Line]()
        with contextlib.suppress(Fault, TypeError, ValueError):
            for file in self.files:
                worker.load(file)
                listed = Target(file, SEEN)
                # whatever the submission makes of the list, only numbers of lines are taken from it
                lines = worker.value(worker.call(listed, method="copy").handle)
                ran |= {(file, line) for line in lines if type(line) is int}
                worker.call(listed, method="clear")
            return frozenset(ran)
        return None


class _Enough(BaseException):
    """Enough is known. No check catches it."""


def _distinct(runs: Sequence[_Run], sources: Mapping[str, str]) -> Path | None:
    """The lines that tell wrong answers from right ones best, where some do."""
    wrong = sum(not run.answer.fine for run in runs)
    # what comes behind a line that raises does not run; that it does not leads nowhere
    raised = all(run.answer.raised for run in runs if not run.answer.fine)
    ways: dict[tuple[bool, ...], _Line] = {}
    for place in sorted(frozenset[_Line]().union(*(run.lines for run in runs))):
        ways.setdefault(tuple(place in run.lines for run in runs), place)
    found = []
    for way, (file, line) in ways.items():
        for taken in (True,) if raised else (True, False):
            met = [run.answer.fine for run, ran in zip(runs, way, strict=True) if ran is taken]
            # of paths that few answers take there may be many, and one of them may be taken by chance
            others = sum(sum(other) <= len(met) for other in ways)
            rarely = others * (_CHANCE if taken else _CHANCE_LEFT)
            if met.count(False) == wrong and _tells(len(met), len(runs), wrong, rarely):
                found.append(Path(file, line, taken, len(met), wrong, len(runs) - len(met)))
    if not found:
        return None
    best = max(found, key=lambda path: (path.wrong / path.met, path.runs))
    return replace(best, guard=guard(sources[best.file], best.line))


def _tells(met: int, answers: int, wrong: int, rarely: int) -> bool:
    """Whether chance puts all wrong answers on a path less often than once in so many times."""
    if answers - met < _RIGHT or wrong < _SHARE * met:
        return False
    return rarely * comb(met, wrong) < comb(answers, wrong)
