"""Throughput says how long a call takes beside plain code, with its date, and never fails anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task
from judge_tui.checks.timing import Size, Timing
from judge_tui.checks.verdict import Outcome, Verdict

RIGHT = "def scale(x, factor):\n    return x * factor, (x, factor)\n"
BACKWARD = "def scale_backward(dy, cache):\n    x, factor = cache\n    return dy * factor, (dy * x).sum(0)\n"
PLAIN = "def prepare(factor):\n    return factor\n\n\ndef call(x, factor):\n    return x * factor\n"


def size(rows: int) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        x = rng.standard_normal((rows, 4))
        return {"x": x, "factor": rng.standard_normal(4), "dy": x}

    return Size(f"{rows} rows", rows, inputs, (rows, 4))


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


def test_a_call_is_timed_at_the_largest_size_with_ratio_and_date(timed: Task, submitted: Submitted) -> None:
    found = outcome(timed, submitted(RIGHT + BACKWARD))
    figures = {item.quantity: item.measured for item in found.evidence}
    assert (found.verdict, "10000 rows" in found.summary) == (Verdict.PASS, True), found.summary
    assert isinstance(figures["ratio to the reference"], float)
    assert 0.05 < figures["ratio to the reference"] < 20
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", str(figures["measured on"]))
    assert found.seconds < 10


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
