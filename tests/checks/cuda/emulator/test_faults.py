"""Every fault is named, at its line; and a kernel's name says which."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.cuda.emulator import Answer, Case, Event

FILE = "faults.cu"
SOURCE = (Path(__file__).parent / "kernels" / FILE).read_text("utf-8")
NAMES = re.findall(r"__global__ void (\w+)\(", SOURCE)
HAZARDS = {"division_by_zero", "unnamed_lane_read", "benign_race", "weak_order"}
NOTES = {"barrier_exit"}
#: What a card would say at the next synchronisation.
STICKY = {
    "deadlock": 702,
    "illegal_address": 700,
    "misaligned_access": 716,
    "trap": 710,
    "stack_overflow": 700,
}


def kind_of(name: str) -> str:
    return max((kind for kind in KINDS if name.startswith(kind)), key=len)


KINDS = {
    "race", "divergent_shuffle", "deadlock", "barrier_divergence", "out_of_bounds", "illegal_address",
    "misaligned_access", "uninitialized_read", "unfinished_copy", "input_written",
    "trap", "stack_overflow", *HAZARDS, *NOTES,
}  # fmt: skip


def marked(name: str) -> int:
    """The line of a kernel, or of the function before it, that names the fault."""
    lines = SOURCE.splitlines()
    start = next(i for i, line in enumerate(lines) if f"void {name}(" in line)
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("}")), start) + 1
    around = [*range(start, end), *range(start - 1, start - 4, -1)]
    return 1 + next(i for i in around if lines[i].rstrip().endswith(f"// {kind_of(name)}"))


def run(built, name: str, schedule: int = 0) -> Answer:
    logits = np.random.default_rng(1).normal(size=(1, 64)).astype(np.float32)
    case = Case(logits, NAMES.index(name), 64, schedule=schedule)
    return built(FILE).run([case], budget_s=60)[0]


def severity_of(name: str) -> str:
    if name == "barrier_divergence_that_pairs_up" or kind_of(name) in HAZARDS:
        return "hazard"
    return "note" if kind_of(name) in NOTES else "fault"


@pytest.mark.parametrize("schedule", [0, 3], ids=["lockstep", "shuffled"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "stack_overflow"])
def test_the_fault_is_named_at_its_line(built, name: str, schedule: int) -> None:
    answer = run(built, name, schedule)
    found = [event for event in answer.events if event.kind == kind_of(name)]
    assert (FILE, marked(name)) in {place for event in found for place in places(event)}, answer.events
    assert severity_of(name) in {event.severity for event in found}


def places(event: Event) -> set[tuple[str, int]]:
    """Where it was seen; of a race either access may come last, as the schedule has it."""
    both = {(event.file, event.line)}
    return (
        both | {(event.other_file, event.other_line)}
        if event.kind in ("race", "barrier_divergence")
        else both
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_device_is_in_the_state_that_a_card_would_be_in(built, name: str) -> None:
    answer = run(built, name)
    wanted = STICKY.get(kind_of(name), 0) if "pairs_up" not in name else 0
    if name == "barrier_divergence_with_a_shuffle":
        wanted = 702
    assert answer.device_error == wanted, answer
    assert answer.status == ("failed" if wanted else "done")


def test_local_memory_has_an_end(built) -> None:
    answer = run(built, "stack_overflow")
    assert [event.kind for event in answer.events if event.severity == "fault"] == ["stack_overflow"]


def test_what_follows_a_broken_kernel_runs_in_a_process_of_its_own(built) -> None:
    logits = np.ones((1, 64), np.float32)
    names = ["illegal_address_null", "benign_race", "trap_by_an_assertion", "barrier_exit"]
    cases = [Case(logits, NAMES.index(name), 64) for name in names]
    answers = built(FILE).run(cases, budget_s=120)
    assert [answer.status for answer in answers] == ["failed", "done", "failed", "done"]


def test_a_read_out_of_bounds_gives_poison_and_the_rest_is_right(built) -> None:
    answer = run(built, "out_of_bounds_read")
    assert answer.probabilities is not None
    assert np.isnan(answer.probabilities).all()
