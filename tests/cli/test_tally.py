"""How far a run is: counted, estimated where not all is planned, and told to whoever shows the workspace."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from judge_tui.checks.events import Finished, Planned, PlannedCheck
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.cli import tally as tallies
from judge_tui.cli.tally import Tally
from judge_tui.judging import under_way
from judge_tui.judging.under_way import UnderWay


def asked(task: str, submissions: int) -> Request:
    return Request(task, tuple(RequestedSubmission(f"m{n}", "/nowhere") for n in range(submissions)))


def planned(task: str, submissions: int, checks: int) -> Planned:
    pairs = itertools.product(range(submissions), range(checks))
    return Planned(task, tuple(PlannedCheck(f"m{m}", f"c{c}", "", "") for m, c in pairs))


def finished(verdict: Verdict = Verdict.PASS, *, cached: bool = False) -> Finished:
    return Finished(Outcome("m0", "a", "c0", verdict, "", 0.1), cached)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock says."""
    now = [100.0]
    monkeypatch.setattr(tallies.time, "monotonic", lambda: now[0])
    return now


def test_what_is_not_planned_yet_is_taken_to_be_like_what_is(clock: list[float]) -> None:
    tally = Tally([asked("a", 2), asked("b", 4)])
    assert (tally.now.total, tally.now.sure) == (0, False)
    tally.heard(planned("a", 2, 5))
    assert (tally.now.total, tally.now.sure) == (30, False)
    tally.heard(planned("b", 4, 1))
    assert (tally.now.total, tally.now.sure) == (14, True)


def test_the_rate_is_that_of_the_last_minute_and_of_what_ran(clock: list[float]) -> None:
    tally = Tally([asked("a", 50)])
    tally.heard(planned("a", 50, 2))
    for _ in range(10):
        tally.heard(finished(cached=True))
    assert str(tally.now) == "10 of 100 · none failed"
    for number in range(20):
        clock[0] += 0.5
        tally.heard(finished(Verdict.FAIL if number == 3 else Verdict.PASS))
    assert str(tally.now) == "30 of 100 · 2.0/s · 35 s left · 1 failed"
    clock[0] += 1000
    tally.heard(finished())
    tally.heard(finished())
    assert tally.now.rate < 0.01


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (UnderWay(1, 7, False, 0, 0.0), "1 of about 7 · none failed"),
        (UnderWay(1, 7, True, 2, 0.05), "1 of 7 · 3/min · 2 min left · 2 failed"),
        (UnderWay(0, 36_000, True, 0, 2.0), "0 of 36000 · 2.0/s · 5.0 h left · none failed"),
        (UnderWay(7, 7, True, 0, 2.0), "7 of 7 · 2.0/s · none failed"),
    ],
)
def test_it_is_told_in_a_few_words(told: UnderWay, said: str) -> None:
    assert str(told) == said


def test_a_screen_reads_it_as_long_as_the_run_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally([asked("a", 1)], tmp_path)
    tally.heard(planned("a", 1, 3))
    assert under_way.read(tmp_path) is None
    tally.heard(finished(Verdict.FAIL))
    known = under_way.read(tmp_path)
    assert known is not None
    assert (known.done, known.total, known.failed, known.pid) == (1, 3, 1, os.getpid())
    # another workspace has none, and a run that was killed is none
    assert under_way.read(tmp_path / "other") is None
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", lambda: 2**22 + 1)
        under_way.keep(tmp_path, known)
    assert under_way.read(tmp_path) is None
    under_way.keep(tmp_path, known)
    tally.close()
    assert under_way.read(tmp_path) is None


def test_a_note_that_is_old_or_broken_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way.keep(tmp_path, UnderWay(1, 2, True, 0, 1.0))
    now = under_way.time.time()
    monkeypatch.setattr(under_way.time, "time", lambda: now + 1000)
    assert under_way.read(tmp_path) is None
    under_way._path(tmp_path).write_text("half")
    assert under_way.read(tmp_path) is None
