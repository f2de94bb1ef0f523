"""Events come in order, stored outcomes stand while nothing changed, a cancelled run leaves no process."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks import sandbox
from judge_tui.checks.backends import cpu_name, find
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.own_time import Account
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.errors import EngineError, UsageError
from judge_tui.checks.events import Done, Event, Finished, Planned, Progress, Ready, Started
from judge_tui.checks.faults import BadResult, Died, Raised, Skipped, TimedOut, Unbound
from judge_tui.checks.one_check import TRACEBACK
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import _works, judge, run, run_check
from judge_tui.checks.store import Store
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task, task_names
from judge_tui.checks.verdict import Outcome, Verdict

RIGHT = """
import time


def scale_forward(x, factor):
    return x * factor, (x, factor)


def scale_backward(dy, cache):
    return dy * cache[1], (dy * cache[0]).sum(axis=0)


def wait():
    time.sleep(60)
"""
Submit = Callable[..., Submission]


def checked(body: Callable[[Bench, Findings], str], **more: Any) -> Check:
    return Check("own", "own", "that it holds", body, **more)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


@pytest.fixture
def asked(
    scale: Task, submitted: Submit, store: Store, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[Event]]:
    """Runs a request on the task ``scale`` and gives its events."""
    monkeypatch.setattr("judge_tui.checks.runner.task_of", lambda name, challenge: scale)

    def ask(*models: str, **how: Any) -> list[Event]:
        wanted = tuple(
            RequestedSubmission(model, str(submitted(RIGHT, model).path)) for model in models or ("a",)
        )
        return list(run(Request("scale", wanted, **how), store=store))

    return ask


def finished(events: list[Event], *, cached: bool | None = None) -> list[Outcome]:
    return [
        event.outcome
        for event in events
        if isinstance(event, Finished) and cached in (None, event.cached)
    ]  # fmt: skip


def test_what_changes_while_it_is_judged_is_judged_as_it_was_and_kept_under_that(
    asked: Callable[..., list[Event]], scale: Task, submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = submitted(RIGHT, "a").path / "code.py"

    def meddled(bench: Bench, found: Findings) -> str:
        # as an editor saves twice, or a branch is changed and changed back
        text = path.read_text()
        path.write_text("x = 1\n")
        with bench.fresh() as worker:
            found.claim("the code that was asked about runs", bool(worker.load("code.py")["functions"]))
        path.write_text(text)
        return ""

    own = [checked(meddled), *scale.checks[:1]]
    monkeypatch.setattr(
        "judge_tui.checks.runner.task_of", lambda name, challenge: replace(scale, checks=tuple(own))
    )
    first = asked("a", jobs=1)
    assert [outcome.verdict for outcome in finished(first, cached=False)] == [Verdict.PASS] * 2
    assert len(finished(asked("a", jobs=1), cached=True)) == 2


def test_events_come_in_order(asked: Callable[..., list[Event]], scale: Task) -> None:
    events = asked("a", seed=7, jobs=1)
    assert isinstance(events[0], Planned)
    assert isinstance(events[1], Ready)
    assert isinstance(events[-1], Done)
    assert [planned.check for planned in events[0].checks] == [check.id for check in scale.checks]
    assert (events[1].seed, events[1].backend) == (7, "cpu")
    middle = [event for event in events[2:-1] if not isinstance(event, Progress)]
    for started, done in zip(middle[::2], middle[1::2], strict=True):
        assert isinstance(started, Started)
        assert isinstance(done, Finished)
        assert started.check == done.outcome.check
        assert (done.outcome.seed, done.outcome.model, done.cached) == (7, "a", False)
    assert {outcome.verdict for outcome in finished(events)} <= {Verdict.PASS, Verdict.SKIP}


def test_two_submissions_run_side_by_side_and_keep_their_names(asked: Callable[..., list[Event]]) -> None:
    events = asked("a", "b", seed=7, jobs=2)
    outcomes = finished(events)
    assert {outcome.model for outcome in outcomes} == {"a", "b"}
    assert len(outcomes) == 2 * 6
    assert {event.model for event in events if isinstance(event, Progress)} == {"a", "b"}


def test_one_job_at_a_time_is_possible(asked: Callable[..., list[Event]]) -> None:
    told = finished(asked("a", "b", jobs=1))
    assert [outcome.model for outcome in told] == [*"a" * 5, *"b" * 5, "a", "b"]
    assert [outcome.check for outcome in told[-2:]] == ["own_tests"] * 2


@pytest.mark.parametrize(("apart", "jobs"), [(True, 2), (False, 2), (True, 0)])
def test_checks_that_share_no_process_run_beside_the_others(
    scale: Task, submitted: Submit, store: Store, monkeypatch: pytest.MonkeyPatch, apart: bool, jobs: int
) -> None:
    # One processor is enough where nobody counted the jobs.
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    begun = {"shares": threading.Event(), "own": threading.Event()}

    def meets(name: str, other: str) -> Callable[[Bench, Findings], str]:
        def body(bench: Bench, found: Findings) -> str:
            begun[name].set()
            found.claim("the other began", begun[other].wait(30 if apart else 0.1))
            return name

        return body

    checks = (
        Check("shares", "s", "e", meets("shares", "own")),
        Check("own", "o", "e", meets("own", "shares"), apart=apart),
    )
    task = replace(scale, checks=checks)
    monkeypatch.setattr("judge_tui.checks.runner.task_of", lambda name, challenge: task)
    asked = RequestedSubmission("m", str(submitted(RIGHT).path))
    told = finished(list(run(Request("scale", (asked,), jobs=jobs), store=store)))
    assert {each.check: str(each.verdict) for each in told} == {
        "shares": "pass" if apart else "fail", "own": "pass"
    }  # fmt: skip


def test_stored_outcomes_stand_until_something_changes(
    asked: Callable[..., list[Event]], scale: Task, store: Store, submitted: Submit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first = finished(asked("a", seed=7))
    second = asked("a")
    stored = {outcome.check: outcome for outcome in finished(second, cached=True)}
    assert stored == {outcome.check: outcome for outcome in first}
    assert not any(isinstance(event, Ready | Started) for event in second)
    assert finished(asked("a", seed=7), cached=False) == []
    assert len(finished(asked("a", seed=8), cached=False)) == 6
    assert len(finished(asked("a", seed=8, fresh=True), cached=False)) == 6
    assert len(finished(asked("a", "b", seed=8), cached=False)) == 6
    raised = tuple(replace(check, version=check.version + (check.id == "right")) for check in scale.checks)
    newer = replace(scale, checks=raised)
    monkeypatch.setattr("judge_tui.checks.runner.task_of", lambda name, challenge: newer)
    assert [outcome.check for outcome in finished(asked("a", seed=8), cached=False)] == ["right"]


def test_what_is_judged_together_is_judged_under_the_newest_stored_seed(
    asked: Callable[..., list[Event]],
) -> None:
    asked("a", seed=7, checks=("right",))
    asked("b", seed=8)
    told = asked("a", "b")
    assert {outcome.seed for outcome in finished(told)} == {8}
    assert {outcome.model for outcome in finished(told, cached=False)} == {"a"}
    # it reopens without a run, and an earlier seed is still there when it is asked for
    assert finished(asked("a", "b"), cached=False) == []
    assert finished(asked("a", seed=7, checks=("right",)), cached=False) == []
    fresh = {outcome.seed for outcome in finished(asked("a", fresh=True), cached=False)}
    assert len(fresh) == 1
    assert not fresh & {7, 8}
    assert {outcome.seed for outcome in finished(asked("a", "b"))} == fresh


def test_an_edit_runs_everything_again(
    scale: Task, submitted: Submit, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge_tui.checks.runner.task_of", lambda name, challenge: scale)
    submission = submitted(RIGHT)
    request = Request("scale", (RequestedSubmission("m", str(submission.path)),), checks=("right",))
    assert finished(list(run(request, store=store)), cached=False)[0].verdict == "pass"
    (submission.path / "code.py").write_text(RIGHT.replace("x * factor", "x + factor"))
    assert finished(list(run(request, store=store)), cached=False)[0].verdict == "fail"


def test_the_same_seed_gives_the_same_outcome_and_only_the_asked_checks_run(
    asked: Callable[..., list[Event]],
) -> None:
    one, other = (finished(asked("a", seed=7, checks=("right",), fresh=True))[0] for _ in range(2))
    assert replace_seconds(one) == replace_seconds(other)
    assert one.evidence[0].measured == other.evidence[0].measured


def replace_seconds(outcome: Outcome) -> tuple[Any, ...]:
    return outcome.check, outcome.verdict, outcome.summary, outcome.evidence, outcome.seed


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"checks": ("nonsense",)}, "task 'scale' has no check 'nonsense'"),
        ({"backend": "gpu"}, "do not run on backend 'gpu'"),
        ({"backend": "emulator"}, "do not run on backend 'emulator'"),
        ({"seed": -1}, "the seed -1 is negative"),
    ],
)
def test_what_cannot_be_asked_for_is_a_usage_error(
    asked: Callable[..., list[Event]], how: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        asked("a", **how)


def test_an_unknown_task_is_a_usage_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no checks are installed for task 'nonsense'") as told:
        load_task("nonsense")
    assert "backwards" in told.value.hint
    assert "backwards" in task_names()


def test_without_a_sandbox_nothing_runs_unless_trusted(
    asked: Callable[..., list[Event]], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = sandbox.Measured(sandbox.Level.NONE, ("nothing holds",), {})
    monkeypatch.setattr("judge_tui.checks.jobs.local.sandbox.measure", lambda *_: nothing)
    with pytest.raises(UsageError, match="nothing confines them"):
        asked("a", checks=("size",))
    events = asked("a", checks=("size",), trust=True)
    assert finished(events)[0].sandbox == "none"


@pytest.mark.parametrize(
    ("fault", "verdict", "summary"),
    [
        (Raised("ValueError", "no", file="a.py", line=3), "fail", "raised ValueError: no at a.py:3"),
        (TimedOut("took longer than its budget of 1 s"), "fail", "the submission took longer"),
        (Died("exited with status 0"), "fail", "the submission exited"),
        (BadResult("answered y with None"), "fail", "the submission answered y with None"),
        (Unbound("backward", ["a.py:f has another shape"]), "unbound", "a.py:f has another shape"),
        (Skipped("there is nothing to do"), "skip", "there is nothing to do"),
        (EngineError("out of file descriptors"), "error", "out of file descriptors"),
        (ZeroDivisionError("division by zero"), "error", "the engine broke: ZeroDivisionError"),
    ],
)  # fmt: skip
def test_whatever_a_check_meets_becomes_a_verdict(
    scale: Task, submitted: Submit, fault: Exception, verdict: str, summary: str
) -> None:
    def body(bench: Bench, found: Findings) -> str:
        raise fault

    outcome = judge(replace(scale, checks=(checked(body),)), submitted(RIGHT), seed=1)["own"]
    assert outcome.verdict == verdict
    assert summary in outcome.summary


def test_what_was_measured_stands_where_the_engine_breaks_behind_it(scale: Task, submitted: Submit) -> None:
    def body(bench: Bench, found: Findings) -> str:
        found.limit("a figure", 1.0 if wrong else 0.0, 0.5)
        raise ZeroDivisionError("division by zero")

    for wrong, verdict in ((True, "fail"), (False, "error")):
        outcome = judge(replace(scale, checks=(checked(body),)), submitted(RIGHT), seed=1)["own"]
        assert outcome.verdict == verdict
        assert "the engine broke: ZeroDivisionError" in outcome.summary
        assert outcome.summary.startswith("a figure") is wrong
        assert outcome.evidence[-1].quantity == TRACEBACK


def test_a_check_that_decides_nothing_is_a_fault_of_the_engine(scale: Task, submitted: Submit) -> None:
    def body(bench: Bench, found: Findings) -> str:
        found.note("a figure", 1.0)
        return "said nothing"

    outcome = judge(replace(scale, checks=(checked(body),)), submitted(RIGHT), seed=1)["own"]
    assert (outcome.verdict, outcome.summary) == ("error", "check 'own' decided nothing")


def waits(bench: Bench, found: Findings) -> str:
    """Waits in a worker of its own for what never comes."""
    from judge_tui.checks.calling.remote import Target

    with bench.fresh() as worker:
        bench.progress(f"pid {worker.jail.pid}", None)
        worker.call(Target("code.py", "wait"), budget=60)
    return "never"


def shares(bench: Bench, found: Findings) -> str:
    """The same in the shared worker."""
    from judge_tui.checks.calling.remote import Target

    bench.progress(f"pid {bench.worker.jail.pid}", None)
    bench.worker.call(Target("code.py", "wait"), budget=60)
    return "never"


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("body", [waits, shares])
@pytest.mark.parametrize("how", ["event", "close"])
def test_a_cancelled_run_ends_at_once_and_leaves_no_process(
    scale: Task, submitted: Submit, store: Store, monkeypatch: pytest.MonkeyPatch,
    body: Callable[[Bench, Findings], str], how: str,
) -> None:  # fmt: skip
    endless = replace(scale, checks=(checked(body), scale.checks[0]))
    monkeypatch.setattr("judge_tui.checks.runner.task_of", lambda name, challenge: endless)
    submission, cancel = submitted(RIGHT), threading.Event()
    events: Iterator[Event] = run(
        Request("scale", (RequestedSubmission("m", str(submission.path)),)), cancel=cancel, store=store
    )
    pid = next(int(event.note.split()[1]) for event in events if isinstance(event, Progress))
    started = time.monotonic()
    if how == "event":
        cancel.set()
        rest = list(events)
        assert not any(isinstance(event, Finished) for event in rest)
    else:
        events.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 5
    assert gone(pid)
    assert store.outcomes(submission, "cpu", cpu_name()) == {}


def test_a_bench_that_was_stopped_starts_no_process_any_more(scale: Task, submitted: Submit) -> None:
    bench = Bench(submitted(RIGHT), scale.contract, seed=1)
    bench.stop()
    assert run_check(scale, scale.by_id["right"], bench).verdict == "fail"
    with pytest.raises(Died, match="was stopped"):
        _ = bench.worker


def test_a_check_is_stopped_at_its_budget_whatever_it_does(
    scale: Task, submitted: Submit, accounts: list[Account]
) -> None:
    outcome = judge(replace(scale, checks=(checked(shares, budget=1.0),)), submitted(RIGHT), seed=1)["own"]
    assert (outcome.verdict, max(account.spent for account in accounts) < 2) == ("fail", True)
    assert outcome.summary == "the submission used up the time of the check"


def test_of_many_submissions_each_is_done_with_before_the_next_and_let_go(
    scale: Task, submitted: Submit
) -> None:
    backend = find("cpu")
    some = [(submitted(RIGHT, f"m{n}"), list(scale.checks)) for n in range(3)]
    few = [(work.submission.model, work.beside) for work in _works(deque(some), backend, 0)]
    assert few == [*((f"m{n}", False) for n in range(3)), *((f"m{n}", True) for n in range(3))]
    many = deque((submitted(RIGHT, f"n{n}"), list(scale.checks)) for n in range(20))
    works = _works(many, backend, 0)
    assert [next(works).submission.model for _ in range(4)] == ["n0", "n0", "n1", "n1"]
    assert len(many) == 18
