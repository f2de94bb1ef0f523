"""What blocks of one launch do to each other's device memory is told, unless something stands between."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.cuda.emulator import Answer, Case

FILE = "blocks.cu"
SOURCE = (Path(__file__).parent / "kernels" / FILE).read_text("utf-8")
NAMES = re.findall(r"__global__ void (\w+)\(", SOURCE)
#: In order, in reverse, from the middle on.
SCHEDULES = (0, 1, 2)
KIND = "race_between_blocks"


def run(built, name: str, schedule: int) -> Answer:
    logits = np.random.default_rng(1).normal(size=(1, 64)).astype(np.float32)
    case = Case(logits, NAMES.index(name), 64, schedule=schedule)
    return built(FILE).run([case], budget_s=60)[0]


def marked(name: str) -> int:
    """The line of a kernel that writes what another block reads."""
    lines = SOURCE.splitlines()
    start = next(i for i, line in enumerate(lines) if f"void {name}(" in line)
    return 1 + next(i for i in range(start, len(lines)) if lines[i].endswith(f"// {KIND}"))


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("right")])
def test_a_race_between_blocks_is_told_with_its_line(built, name: str) -> None:
    found = [
        (schedule, event)
        for schedule in SCHEDULES
        for event in run(built, name, schedule).events
        if event.kind == KIND
    ]
    assert {marked(name)} <= {line for _, event in found for line in (event.line, event.other_line)}, found
    lucky = {event.severity for _, event in found}
    assert lucky == {"hazard"} if name.startswith("lucky") else "fault" in lucky, found


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("right")])
def test_what_is_ordered_is_no_race(built, name: str, schedule: int) -> None:
    answer = run(built, name, schedule)
    assert answer.status == "done", answer
    assert not [event for event in answer.events if event.kind in (KIND, "race", "deadlock")], answer.events


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_block_that_waits_by_plain_loads_ends(built, schedule: int) -> None:
    assert run(built, "lucky_wait_by_a_hinted_load", schedule).status == "done"


def test_a_block_that_waits_for_those_before_it_runs_in_order(built) -> None:
    logits = np.random.default_rng(1).normal(size=(1, 64)).astype(np.float32)
    name = "right_each_waits_for_the_one_before"
    for answer in (run(built, name, schedule) for schedule in SCHEDULES):
        assert answer.probabilities is not None
        assert answer.probabilities[0, 0] == pytest.approx(logits[0, :4].sum(), rel=1e-5)
