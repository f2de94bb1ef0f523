"""Budgets count a submission's own time: a busy machine fails nobody. Load is told, not made."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling import own_time
from judge_tui.checks.calling.own_time import Account, Over, Processor, Turn
from judge_tui.checks.calling.remote import Target, Worker
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.faults import TimedOut
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

SOURCE = """
import time

def scale_forward(x, factor):
    time.sleep(0.6)
    return x * factor, (x, factor)

def scale_backward(dy, cache):
    x, factor = cache
    return dy * factor, (dy * x).sum(axis=0)

def nap(seconds):
    time.sleep(seconds)

def spin():
    while True:
        pass
"""


class Told(Processor):
    """A processor that tells what a test says."""

    def __init__(self) -> None:
        self.now, self.ran, self.waited, self.all_threads, self.told = 0.0, 0.0, 0.0, 0.0, True

    def times(self) -> tuple[float, float]:
        return self.ran, self.waited

    def total(self) -> float:
        return self.all_threads


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """A processor and a wall clock in the test's hand."""
    made = Told()
    monkeypatch.setattr(own_time.time, "monotonic", lambda: made.now)
    return made


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is always busy: every process waits all the time, as the kernel tells it."""
    monkeypatch.setattr(Processor, "times", lambda self: (0.0, time.monotonic()))


@pytest.fixture
def worker(submitted: Callable[..., Submission]) -> Iterator[Worker]:
    with Worker(submitted(SOURCE)) as started:
        yield started


def test_what_a_process_waits_for_a_processor_is_not_counted(told: Told) -> None:
    turn = Turn(1.0, told)
    assert turn.patience() == 1.0
    told.now, told.waited = 5.0, 4.5
    assert turn.own == 0.5
    assert turn.patience() == 0.5


def test_what_it_waited_before_counts_neither_way(told: Told) -> None:
    told.now, told.waited = 100.0, 50.0
    turn = Turn(1.0, told)
    told.now = 101.0
    assert turn.own == 1.0


def test_a_wait_that_is_told_late_is_asked_for_again(told: Told) -> None:
    turn = Turn(1.0, told)
    told.now = 1.5
    again = turn.patience()
    assert not isinstance(again, Over)
    assert 0 < again < 1
    told.now, told.waited = 1.6, 1.0
    assert turn.patience() == pytest.approx(0.4)
    told.now = 2.6
    assert not isinstance(turn.patience(), Over)
    told.now = 2.7
    assert turn.patience() is Over.OWN_TIME


def test_without_word_of_waiting_the_wall_clock_counts(told: Told) -> None:
    told.told = False
    turn = Turn(1.0, told)
    told.now = 1.0
    assert turn.patience() is Over.OWN_TIME
    assert "wall clock" in turn.told()


@pytest.mark.parametrize(("threads", "over"), [(0.9, Over.MACHINE), (1.1, Over.PROCESSOR_TIME)])
def test_a_machine_that_never_lets_it_run_is_given_up(told: Told, threads: float, over: Over) -> None:
    turn = Turn(1.0, told)
    told.now = told.waited = 2.0
    assert not isinstance(turn.patience(), Over)
    told.now = told.waited = 60.0
    told.all_threads = threads
    assert turn.patience() is over


def test_the_kernel_tells_what_a_process_ran_and_waited() -> None:
    processor = Processor(os.getpid())
    assert processor.told
    before, total = processor.times(), processor.total()
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    assert processor.times()[0] - before[0] > 0.02
    assert processor.times()[1] >= before[1]
    assert processor.total() >= total > 0
    processor.close()
    processor.close()
    assert processor.times()[0] > 0, "what was told last stays"


def test_a_process_that_is_gone_tells_nothing() -> None:
    processor = Processor(2**22 + 1)
    assert not processor.told
    assert (processor.times(), processor.total()) == ((0.0, 0.0), 0.0)


def test_sleeping_counts_and_the_fault_says_which_clock(worker: Worker) -> None:
    with pytest.raises(TimedOut, match=r"took longer than its budget of 0\.2 s$") as fault:
        worker.call(Target("code.py", "nap"), [30], budget=0.2)
    assert "of its own time" in fault.value.output


@pytest.mark.usefixtures("busy")
def test_a_slow_answer_on_a_busy_machine_is_no_fault(worker: Worker) -> None:
    worker.account = Account(0.3)
    for _ in range(2):
        result = worker.call(Target("code.py", "nap"), [0.4], budget=0.1)
        assert result.seconds > 0.3
        assert result.own_seconds < 0.1
    assert worker.account.left > 0.1


@pytest.mark.usefixtures("busy")
def test_a_busy_machine_changes_no_verdict(scale: Task, submitted: Callable[..., Submission]) -> None:
    right = replace(scale, checks=(replace(scale.by_id["right"], budget=0.5),))
    assert judge(right, submitted(SOURCE), seed=1)["right"].verdict == "pass"


@pytest.mark.usefixtures("busy")
def test_what_a_machine_never_lets_run_is_an_error_and_no_fail(
    scale: Task, submitted: Callable[..., Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_time, "_WALL", 1.0)
    monkeypatch.setattr(own_time, "_WALL_LEAST", 0.4)
    text = SOURCE.replace("sleep(0.6)", "sleep(30)")
    task = replace(scale, checks=(replace(scale.by_id["right"], budget=0.2),))
    outcome = judge(task, submitted({"code.py": text, "submission.toml": BINDING}), seed=1)["right"]
    assert (outcome.verdict, "too busy" in outcome.summary) == ("error", True), outcome.summary


@pytest.mark.usefixtures("busy")
def test_a_loop_without_end_fails_on_a_busy_machine_too(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_time, "_WALL_LEAST", 0.4)
    with pytest.raises(TimedOut, match="of processor time"):
        worker.call(Target("code.py", "spin"), budget=0.1)


def test_what_the_engine_takes_is_not_the_submission_s(
    scale: Task, submitted: Callable[..., Submission]
) -> None:
    def slow(bench: Bench, found: Findings) -> str:
        time.sleep(0.5)
        found.limit("nap", bench.worker.call(Target("code.py", "nap"), [0.0]).own_seconds, 0.4)
        return f"{bench.left:.2f} s left"

    task = replace(scale, checks=(Check("own", "own", "what it says", slow, budget=0.4),))
    assert judge(task, submitted(SOURCE), seed=1)["own"].verdict == "pass"


def test_a_worker_that_has_little_processor_time_left_is_replaced(
    scale: Task, submitted: Callable[..., Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []

    def look(bench: Bench, found: Findings) -> str:
        pids.append(bench.worker.jail.pid)
        used = {1: 250.0, 2: 270.0}.get(len(pids), 0.0)
        monkeypatch.setattr(Processor, "total", lambda self: used)
        found.claim("looked", True)
        return "looked"

    checks = tuple(Check(name, name, name, look, budget=40) for name in "abc")
    judge(replace(scale, checks=checks), submitted(SOURCE), seed=1)
    assert pids[0] == pids[1] != pids[2]


BINDING = """
[binding.forward]
target = "code.py:scale_forward"
args = ["x", "factor"]
returns = { y = "[0]", cache = "[1]" }
"""
