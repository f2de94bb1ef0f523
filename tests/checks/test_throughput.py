"""Throughput says how long a call takes beside plain code, with its date, and never fails anything."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.calling.clock import Timed, noise, withheld
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task
from judge_tui.checks.timing import Size, Timing
from judge_tui.checks.verdict import Outcome, Verdict

#: The module, which the check of its name hides.
THROUGHPUT = importlib.import_module("judge_tui.checks.generic.throughput")
RIGHT = "def scale(x, factor):\n    return x * factor, (x, factor)\n"
BACKWARD = "def scale_backward(dy, cache):\n    x, factor = cache\n    return dy * factor, (dy * x).sum(0)\n"
PLAIN = "def prepare(factor):\n    return factor\n\n\ndef call(x, factor):\n    return x * factor\n"


def size(rows: int) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        x = rng.standard_normal((rows, 4))
        return {"x": x, "factor": rng.standard_normal(4), "dy": x}

    return Size(f"{rows} rows", rows, inputs, (rows, 4))


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose noise withholds nothing."""
    monkeypatch.setattr(THROUGHPUT, "withheld", lambda ours, theirs: "")


@pytest.fixture
def timed(scale: Task, tmp_path: Path) -> Task:
    """The smallest task, with a call to time."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "plain.py").write_text(PLAIN)
    sizes = (size(100), size(10_000))
    timing = Timing("forward", folder / "plain.py", ("x",), sizes, answer="y", prepared=("factor",))
    return replace(scale, contract=replace(scale.contract, timing=timing))


def outcome(task: Task, submission: Submission) -> Outcome:
    return judge(task, submission, seed=1, checks=("throughput",))["throughput"]


Submitted = Callable[..., Submission]


@pytest.mark.usefixtures("quiet")
def test_a_call_is_timed_at_the_largest_size_with_ratio_and_date(timed: Task, submitted: Submitted) -> None:
    found = outcome(timed, submitted(RIGHT + BACKWARD))
    figures = {item.quantity: item.measured for item in found.evidence}
    assert (found.verdict, "10000 rows" in found.summary) == (Verdict.PASS, True), found.summary
    assert isinstance(figures["ratio to the reference"], float)
    assert 0.05 < figures["ratio to the reference"] < 20
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", str(figures["measured on"]))
    assert found.seconds < 10


@pytest.mark.usefixtures("quiet")
def test_a_slow_call_is_told_by_its_ratio_and_not_failed(timed: Task, submitted: Submitted) -> None:
    slow = "import time\n" + RIGHT.replace("    return", "    time.sleep(0.1)\n    return")
    found = outcome(timed, submitted(slow))
    ratio = next(item.measured for item in found.evidence if item.quantity == "ratio to the reference")
    assert found.verdict is Verdict.PASS
    assert isinstance(ratio, float)
    assert ratio > 10
    assert "too slow for more" in found.summary


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RIGHT.replace("x * factor,", "x + factor,"), "off the reference's"),
        (RIGHT.replace("    return", "    assert len(x) < 50\n    return"), "raised AssertionError"),
        ("def something_else(one, other):\n    return one * other\n", "no callable was found"),
    ],
)
def test_what_cannot_be_timed_is_skipped_with_the_reason(
    timed: Task, submitted: Submitted, text: str, told: str
) -> None:
    found = outcome(timed, submitted(text))
    assert (found.verdict, told in found.summary) == (Verdict.SKIP, True), found.summary


@pytest.mark.usefixtures("quiet")
def test_other_work_that_nobody_could_ask_for_is_not_called_wrong(timed: Task, submitted: Submitted) -> None:
    timing = timed.contract.timing
    assert timing is not None
    task = replace(timed, contract=replace(timed.contract, timing=replace(timing, told=("causal",))))
    found = outcome(task, submitted(RIGHT.replace("x * factor,", "x + factor,")))
    assert "not timed: what is timed is causal, and its call takes no parameter 'causal'" in found.summary
    assert outcome(task, submitted(RIGHT + BACKWARD)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("reason", "told"), [("the machine is busy, …", "the machine is busy"), ("", "a call")]
)
def test_what_a_busy_machine_has_spoiled_is_withheld(
    reason: str, told: str, timed: Task, submitted: Submitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(THROUGHPUT, "withheld", lambda ours, theirs: reason)
    found = outcome(timed, submitted(RIGHT + BACKWARD))
    assert found.verdict is (Verdict.SKIP if reason else Verdict.PASS)
    assert told in found.summary
    assert not reason or not any("ratio" in item.quantity for item in found.evidence)


def times(seconds: list[float], waited: float = 0.0) -> list[Timed]:
    return [Timed(each, each + waited, waited) for each in seconds]


def test_steady_times_are_told_however_slow() -> None:
    assert withheld(times([0.1, 0.11, 0.1]), times([0.01, 0.01, 0.011])) == ""
    assert withheld(times([0.1] * 15), times([0.001, 0.0012, 0.0009] * 5)) == ""
    # one turn of many that met something else
    assert withheld(times([0.1] * 14 + [3.0]), times([0.1] * 15)) == ""


def test_times_of_a_restless_machine_are_withheld() -> None:
    assert "restless" in withheld(times([0.1, 0.4, 0.1, 0.5, 0.1, 0.4]), times([0.1] * 6))
    assert "restless" in withheld(times([0.1, 0.3, 0.1]), times([0.1] * 3))


def test_waiting_for_a_processor_is_a_reason_only_where_it_makes_noise() -> None:
    steady, noisy = [0.1] * 6, [0.1, 0.4, 0.1, 0.5, 0.1, 0.4]
    assert withheld(times(steady, waited=0.2), times(steady, waited=0.1)) == ""
    assert "waiting for a processor" in withheld(times(noisy, waited=0.2), times(steady, waited=0.1))


def test_a_neighbour_that_slows_both_alike_changes_no_ratio() -> None:
    slowed = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2]
    assert noise(times([2 * each for each in slowed]), times(slowed)) == 0.0


def test_what_a_process_and_its_judge_wait_for_is_told_with_a_call(
    timed: Task, submitted: Submitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Timed] = []

    def kept(ours: list[Timed], theirs: list[Timed]) -> str:
        seen.extend((*ours, *theirs))
        return ""

    monkeypatch.setattr(THROUGHPUT, "withheld", kept)
    monkeypatch.setattr("judge_tui.checks.calling.own_time.Turn.waited", 0.5)
    assert outcome(timed, submitted(RIGHT + BACKWARD)).verdict is Verdict.PASS
    # two requests each: the call, and its answer
    assert seen
    assert all(each.waited == each.wall < 1.0 for each in seen)


def test_a_task_without_a_size_is_skipped(scale: Task, submitted: Submitted) -> None:
    found = outcome(scale, submitted(RIGHT + BACKWARD))
    assert (found.verdict, "no size" in found.summary) == (Verdict.SKIP, True)


@pytest.mark.parametrize("name", ["backwards", "beam_search", "flash_attention", "ternary_training"])
def test_a_task_that_is_timed_names_a_reference_that_gives_the_right_shape(name: str) -> None:
    timing = load_task(name).contract.timing
    assert timing is not None
    assert timing.plain.is_file()
    assert [size.work for size in timing.sizes] == sorted(size.work for size in timing.sizes)
    given = timing.sizes[0].inputs(np.random.default_rng(0))
    assert set(timing.takes) | set(timing.prepared) <= set(given)
