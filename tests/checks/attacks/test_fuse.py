"""CUDA submissions whose host code makes the answer, hides what kernels do, or forges the report."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.cuda import emulator
from judge_tui.checks.cuda.emulator import Answer, Case
from judge_tui.checks.cuda.emulator.reports import FORGED
from judge_tui.checks.specimens import judged, specimens, unexpected
from judge_tui.checks.tasks.fuse import TASK

HERE = Path(__file__).parent / "fuse"
SOURCES = HERE / "sources"
SPECIMENS = {each.name: each for each in specimens(HERE, TASK)}
RIGHT = np.arange(4, dtype=np.float32)[None] / 10
pytestmark = pytest.mark.xdist_group("emulator")

DEVICE, OWN, OPENS = "device memory", "the emulator's own memory", "would open what is closed to it"
#: Variant of host_code.cu → what is said of it. The others end without the answer, by an error of their own.
TOLD = {
    **dict.fromkeys((*range(1, 14), 20, 26), DEVICE),
    **dict.fromkeys((22, 23, 24, 25), OWN),
    **dict.fromkeys((15, 16, 17, 18, 19, 27, 32, 33, 34, 36), OPENS),
}


@pytest.fixture(autouse=True)
def compiling() -> None:
    if reason := emulator.available():
        pytest.skip(reason)


@functools.cache
def made(name: str, define: str = "") -> emulator.Program | emulator.Failure:
    files = {path.name: path.read_bytes() for path in (SOURCES / name, SOURCES / "posing.h")}
    defines = {define: "1"} if define else None
    return emulator.build(f'#include "{name}"\n', files, defines=defines, seconds=300)


def run(name: str, *numbers: int, logits: npt.NDArray[np.float32] = RIGHT) -> list[Answer]:
    """Launches of the sources' variants, one after another in one process."""
    program = made(name)
    assert isinstance(program, emulator.Program), program.output
    return program.run([Case(logits, number, 4) for number in numbers], budget_s=60)


def right(answer: Answer) -> bool:
    return answer.status == "done" and np.array_equal(answer.probabilities, RIGHT)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SPECIMENS)
def test_attacks_are_caught_and_their_controls_pass(name: str) -> None:
    outcomes = judged(SPECIMENS[name], TASK, seed=11)
    verdicts = {check: outcome.verdict for check, outcome in outcomes.items()}
    assert not unexpected(SPECIMENS[name], verdicts), outcomes


def test_host_code_in_the_kernels_place_is_named() -> None:
    outcome = judged(SPECIMENS["host_loop"], TASK, seed=11, checks=["topk_correct"])["topk_correct"]
    assert "host code makes a read of 4 bytes in device memory" in outcome.summary
    told = {e.measured: e.line for e in outcome.evidence if e.quantity == "the emulator runs it without"}
    assert told == {"attribute no_sanitize, optimize is left out": 10}


def test_the_control_of_the_host_code_is_right() -> None:
    assert all(map(right, run("host_code.cu", 0, 35, 0)))


@pytest.mark.parametrize("number", TOLD)
def test_host_code_that_reaches_for_what_is_closed_ends_and_is_told(number: int) -> None:
    (answer,) = run("host_code.cu", number)
    assert (answer.status, answer.indices, answer.probabilities) == ("crashed", None, None)
    fault = next(event for event in answer.events if event.severity == "fault")
    assert fault.kind == "illegal_address"
    assert TOLD[number] in fault.text


def test_a_submission_does_not_say_that_its_time_is_over() -> None:
    (answer,) = run("host_code.cu", 37)
    assert (answer.status, [event.kind for event in answer.events]) == ("crashed", ["host_crash"])


def test_outputs_that_are_cut_end_the_case() -> None:
    (answer,) = run("host_code.cu", 38)
    assert (answer.status, answer.probabilities) == ("crashed", None)
    assert answer.seconds < 10


@pytest.mark.parametrize("number", [14, 21, 28, 29, 30, 31])
def test_host_code_finds_the_answer_nowhere(number: int) -> None:
    first, *_later = run("host_code.cu", number, 35)
    assert not right(first)
    assert first.status != "done" or np.isnan(first.probabilities).all() or not first.probabilities.any()  # type: ignore[union-attr]


def test_hooks_that_are_taken_out_are_put_back_and_told() -> None:
    program = made("host_code.cu")
    assert isinstance(program, emulator.Program)
    text = (SOURCES / "host_code.cu").read_text("utf-8").splitlines()
    lines = {each.line for each in program.told}
    wanted = {n for n, line in enumerate(text, 1) if "float* in)" in line and "void " in line and n < 40} | {
        n for n, line in enumerate(text, 1) if "GCC optimize" in line
    }
    assert wanted <= lines


@pytest.mark.parametrize("number", range(5))
def test_a_report_of_somebody_else_makes_two_and_two_are_none(number: int) -> None:
    (answer,) = run("forged_report.cu", number)
    assert (answer.status, answer.ended, answer.indices) == ("crashed", FORGED, None)


def test_a_report_before_main_is_none() -> None:
    (answer,) = run("ends_early.cu", 0)
    assert (answer.status, answer.ended, answer.indices) == ("crashed", FORGED, None)


def test_functions_defined_anew_are_the_submissions_alone() -> None:
    control, attack = run("interposed.cu", 0, 1)
    assert right(control)
    assert attack.status == "crashed"
    assert any("host code reads device memory" in event.text for event in attack.events)


def test_nothing_is_written_into_the_assembly() -> None:
    program = made("written_into_assembly.cu")
    assert isinstance(program, emulator.Program), program.output
    assert b"injected" not in program.binary
    assert len(program.told) == 7
    assert right(run("written_into_assembly.cu", 0)[0])


def test_text_that_says_it_is_the_systems_is_held_to_the_same_lists() -> None:
    control, *attacks = run("posing_as_system.cu", 0, 1, 2, 3, 4)
    assert right(control)
    assert [answer.status for answer in attacks] == ["crashed"] * 4
    program = made("posing_as_system.cu")
    assert isinstance(program, emulator.Program)
    assert [told.text for told in program.told] == ["attribute no_sanitize is left out"] * 3


def test_the_emulators_own_functions_have_no_names_for_a_submission() -> None:
    failure = made("as_a_kernel.cu")
    assert isinstance(failure, emulator.Failure)
    assert "their_emu" in failure.reason


@pytest.mark.parametrize("define", ["", "OF_THE_SYSTEM"])
def test_text_that_poses_as_a_header_has_no_names_of_the_emulators_either(define: str) -> None:
    failure = made("posing_as_ours.cu", define)
    assert isinstance(failure, emulator.Failure)
    assert "their_emu" in failure.reason


def test_variables_of_device_memory_are_used_as_a_card_lets_them_be() -> None:
    answers = run("device_variables.cu", 0, 1, 2, 3)
    assert all(map(right, answers)), answers
    assert not [event for answer in answers for event in answer.events if event.severity == "fault"]


@pytest.mark.parametrize("number", range(10, 16))
def test_host_code_that_touches_a_variable_of_device_memory_ends(number: int) -> None:
    (answer,) = run("device_variables.cu", number)
    assert (answer.status, answer.probabilities) == ("crashed", None)
    assert "in a __device__ or __constant__ variable" in answer.events[-1].text


def test_what_kernels_leave_for_the_host_counts_as_brought_where_host_code_looks_at_it() -> None:
    logits = np.arange(64, dtype=np.float32)[None] / 100
    workspace, *looked_at = run("left_for_the_host.cu", *range(5), logits=logits)
    assert all(np.array_equal(each.probabilities[0], logits[0, :4]) for each in (workspace, *looked_at))  # type: ignore[index]
    assert not workspace.events
    assert [[event.kind for event in each.events] for each in looked_at] == [["host_copy"]] * 4


@pytest.mark.parametrize("number", range(10))
def test_what_honest_host_code_does_never_counts_against_it(number: int) -> None:
    first, again = run("honest_host.cu", number, number)
    assert right(first), first
    assert right(again), again
    assert not [event for event in (*first.events, *again.events) if event.severity == "fault"]


KERNEL = b"__global__ void k(float* x) { x[0] = 1; }\n"


@pytest.mark.parametrize(
    "text",
    [
        b'asm(".incbin \\"/etc/passwd\\"");\n',
        b'__global__ void k() { asm volatile(".incbin \\"judge.inputs\\""); }\n',
        b'int leave() __asm__("_exit\\n\\t.incbin \\"/etc/passwd\\"");\n',
        b'const char secret[] = {\n#embed "/etc/passwd"\n};\n',
        b'#if __has_include("/etc/passwd")\n#error there\n#endif\nint unfinished(\n',
        b'#include "/proc/self/environ"\n',
        b'#include "/proc/self/cmdline"\n',
        b'#define WHERE "/etc/shadow"\n#include WHERE\n',
        b'<:<:gnu::no_sanitize("thread"):>:> void f() {}\n',
        b"int \\u0061sm_ = 1;\nint unfinished(\n",
        b'[[gnu::no_sanitize("thread" void f() {}\n',
        b'#pragma GCC system_header\nasm("hlt");\n',
        b'register long sp asm("rsp");\nlong leak() { return sp; }\n',
    ],
)
def test_sources_that_reach_into_the_machine_are_not_built(text: bytes) -> None:
    failure = emulator.build('#include "a.cu"\n', {"a.cu": KERNEL.replace(b" k(", b" m(") + text}, seconds=60)
    assert isinstance(failure, emulator.Failure)
    assert "root:" not in failure.output
    assert "#error" not in failure.output
