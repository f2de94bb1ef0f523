"""Looking for one edit that mends a submission: program repair, with the checks as its judge.

A verdict says that something is wrong; which line it is shows where an edit of that line makes it right.
Edits are tried in one process first, against what a failing check asked: one that is answered as before mends
nothing. What is left is judged by the checks, in a process of its own, as anybody's answer is. Nothing of it
decides a verdict, and what is found need not be what the author would write: other edits may do as well.

Source: generate-and-validate program repair (Le Goues et al., GenProg, 2012; Long and Rinard, Prophet, 2016).
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.edited_bench import bench_of_edited
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Fault
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.repair.edit import Edit
from judge_tui.checks.repair.judging import Quick, passes
from judge_tui.checks.repair.mends import mends
from judge_tui.checks.repair.probe import Answer, Change, Probe, Trial
from judge_tui.checks.repair.recording import Recorder
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["Repair", "Tried", "failing", "repaired"]

_GENERIC = frozenset(check.id for check in GENERIC)
#: So many failing checks, the quickest first, are asked what they ask until one asks something.
_PROBES = 3
#: Of so many edits that are judged one is one that changes all answers.
_TURN = 3
#: How far it is is told each time that so many edits were tried, or one was judged.
_OFTEN = 20
_GOOD = (Verdict.PASS, Verdict.WARN)


@dataclass(frozen=True, slots=True)
class Repair:
    """One edit that mends a submission, as far as its checks see.

    Attributes:
        file: The file that is edited.
        edit: The edit.
        checks: Ids of the checks that failed, and pass with it.
    """

    file: str
    edit: Edit
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """How far a search is.

    Attributes:
        edits: Edits that were tried so far.
        of: Edits that there are.
        judged: Those of them that the checks judged.
    """

    edits: int
    of: int
    judged: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An edit of a file."""

    file: str
    edit: Edit


def failing(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Ids of the checks of a task that failed on the CPU, the quickest first; those of all tasks left out."""
    found = [
        one
        for one in outcomes.values()
        if one.verdict is Verdict.FAIL and one.backend == "cpu" and one.check not in _GENERIC
    ]
    return [one.check for one in sorted(found, key=lambda one: one.seconds)]


def repaired(
    task: Task,
    submission: Submission,
    outcomes: Mapping[str, Outcome],
    *,
    seconds: float,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Tried | Repair]:
    """Look for one edit of a Python submission with which what failed passes and nothing else is worse.

    Args:
        task: The task.
        submission: What failed.
        outcomes: Check id → what was found, all under one seed.
        seconds: How long it may take.
        stop: Whether to stop, asked between edits.

    Yields:
        How far it is, every few edits; last the edit, where one is found: the first that
        mends all that failed, else the one that mends most of it.
    """
    fails = failing(outcomes)
    if not fails:
        return
    until = time.monotonic() + seconds
    bench = Bench(submission, task.contract, seed=outcomes[fails[0]].seed)
    try:
        with contextlib.suppress(JudgeError, Fault):
            search = _Search(task, bench, outcomes, fails)
            if (probe := search.probe()) is not None:
                yield from search.run(probe, lambda: stop() or time.monotonic() >= until)
    finally:
        bench.close()


class _Search:
    """A search on one bench.

    Args:
        task: The task.
        bench: Of the submission.
        outcomes: Check id → what was found.
        fails: The checks that failed, the quickest first.
    """

    def __init__(
        self, task: Task, bench: Bench, outcomes: Mapping[str, Outcome], fails: Sequence[str]
    ) -> None:
        self._task, self._bench, self._fails = task, bench, list(fails)
        self._quick = Quick(bench)
        self._held = [
            one.check for one in outcomes.values() if one.verdict in _GOOD and one.check not in _GENERIC
        ]
        self._sources = {
            file: bench.submission.path.joinpath(file).read_text("utf-8", "replace")
            for file in bench.submission.files
            if file.endswith(".py") and not file.rpartition("/")[2].startswith("test")
        }

    def probe(self) -> Probe | None:
        """What the quickest failing check asks in the shared process; it comes first from now on."""
        if not self._sources:
            return None
        _ = self._bench.bindings
        recorder: Recorder | None = None
        for check in self._fails[:_PROBES]:
            made = self._recorded(check)
            recorder = recorder or made
            # where it is known which answers are wrong, most edits are seen to be none at the first of them
            if made is not None and {True, False} <= set(made.fine):
                recorder = made
                break
        if recorder is None:
            return None
        self._bench.renewed()
        self._fails = [recorder.check, *(one for one in self._fails if one != recorder.check)]
        file, source = next(iter(self._sources.items()))
        return Probe.of(self._bench, recorder.check, recorder.asked, recorder.fine, file, source)

    def _recorded(self, id: str) -> Recorder | None:
        """What a failing check asks in the shared process; None where it asks nothing there, or passes."""
        bench, check, found = self._bench, self._task.by_id[id], Findings()
        bench.begin(id, check.budget)
        recorder = Recorder(id, bench.answers)
        bench.renewed().witness = recorder
        # what ends a check, or breaks it, comes behind what was asked
        with contextlib.suppress(Exception), np.errstate(all="ignore"):
            check.body(bench, found)
            if found.verdict is not Verdict.FAIL:
                return None
        return recorder if any(one.body["op"] == "call" for one in recorder.asked) else None

    def run(self, probe: Probe, over: Callable[[], bool]) -> Iterator[Tried | Repair]:
        """Try the edits, and judge those that change answers; for as long each."""
        # no check's clock runs here
        self._bench.begin(probe.check, float("inf"))
        turns = self._candidates(probe)
        count = sum(map(len, turns))
        waiting = _Waiting()
        trying, judging, tried, judged = 0.0, 0.0, 0, 0
        best: Repair | None = None
        trial = Trial(self._bench, probe)
        todo = self._answered(trial, turns)
        try:
            while not over():
                started = time.monotonic()
                if (not waiting or judging > trying) and (step := next(todo, None)) is not None:
                    waiting.take(*step)
                    tried += 1
                    trying += time.monotonic() - started
                    if tried % _OFTEN == 0:
                        yield Tried(min(tried, count), count, judged)
                    continue
                if not waiting:
                    break
                candidate = waiting.next()
                judged += 1
                mended = self._mended(candidate)
                if len(mended) > len(best.checks if best else ()):
                    best = Repair(candidate.file, candidate.edit, mended)
                if len(mended) == len(self._fails):
                    break
                judging += time.monotonic() - started
                yield Tried(min(tried, count), count, judged)
        finally:
            trial.close()
            self._quick.close()
        # what mends one of many most likely hides what is wrong; of two mistakes each has its own checks
        if best is not None and (len(best.checks) > 1 or len(self._fails) == 1):
            yield best

    def _candidates(self, probe: Probe) -> list[list[_Candidate]]:
        """The edits of lines that run where it is wrong, those first that run there alone."""
        alone: list[_Candidate] = []
        turns: list[list[_Candidate]] = []
        for file, source in self._sources.items():
            lines, only = probe.lines(self._bench, file, source)
            if not lines:
                continue
            for turn, made in enumerate(mends(source, lines)):
                turns += [[] for _ in range(len(turns), turn + 1)]
                alone += [_Candidate(file, edit) for edit in made if edit.statement in only]
                turns[turn] += [_Candidate(file, edit) for edit in made if edit.statement not in only]
        return [alone, *turns]

    def _answered(
        self, trial: Trial, turns: Sequence[Sequence[_Candidate]]
    ) -> Iterator[tuple[_Candidate, Answer]]:
        """What each edit does to the answers, by what was drawn, and where that is nothing by all."""
        for made in turns:
            silent = []
            for candidate in made:
                answer = trial.answer(candidate.file, candidate.edit.source)
                if answer.change is Change.NONE:
                    silent.append(candidate)
                yield candidate, answer
            # a wrong answer that stays as it is proves enough
            for candidate in () if trial.known else silent:
                yield candidate, trial.answer(candidate.file, candidate.edit.source, whole=True)

    def _mended(self, candidate: _Candidate) -> tuple[str, ...]:
        """The failing checks that pass with an edit; none where that by which it was tried does not.

        None either where another check fails that did not.
        """
        if not self._quick.may_pass(self._task.by_id[self._fails[0]], candidate.file, candidate.edit.source):
            return ()
        edited = self._bench.submission.edited(candidate.file, candidate.edit.source)
        bench = bench_of_edited(self._bench, edited, Bench)
        try:
            if not passes(self._task.by_id[self._fails[0]], bench):
                return ()
            mended = [check for check in self._fails[1:] if passes(self._task.by_id[check], bench)]
            if not all(passes(self._task.by_id[check], bench) for check in self._held):
                return ()
            return (self._fails[0], *mended)
        finally:
            bench.close()


class _Waiting:
    """Edits that wait to be judged: mostly those that change some answers, those that answer alike last."""

    def __init__(self) -> None:
        self._some: deque[_Candidate] = deque()
        self._all: deque[_Candidate] = deque()
        self._alike: deque[_Candidate] = deque()
        self._known: set[bytes] = set()
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._some or self._all or self._alike)

    def take(self, candidate: _Candidate, answer: Answer) -> None:
        """Take an edit, where it may mend something."""
        if answer.change not in (Change.SOME, Change.ALL):
            return
        if answer.digest in self._known:
            self._alike.append(candidate)
        else:
            self._known.add(answer.digest)
            (self._some if answer.change is Change.SOME else self._all).append(candidate)

    def next(self) -> _Candidate:
        """The next one to be judged.

        Raises:
            IndexError: None waits.
        """
        self._count += 1
        ordered = (self._all, self._some) if self._count % _TURN == 0 else (self._some, self._all)
        return next((each for each in (*ordered, self._alike) if each), self._alike).popleft()
