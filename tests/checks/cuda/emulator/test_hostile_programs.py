"""Programs that loop, exit, flood, forge and reach out give a status; the judge's machine stays as it is."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.cuda import emulator
from judge_tui.checks.cuda.emulator import Case
from judge_tui.checks.cuda.emulator.reports import FORGED

KERNELS = Path(__file__).parent / "kernels"
LAUNCH = (
    'extern "C" int judge_launch(const float* in, void* at, void* out, long long rows, long long V, int K)'
)
FILE = "hostile.cu"


@pytest.fixture
def ran(built):
    def run(k: int, *, budget: float = 30.0) -> emulator.Answer:
        logits = np.arange(4, dtype=np.float32)[None] / 10
        return built(FILE).run([Case(logits, k, 4)], budget_s=budget)[0]

    return run


def test_the_control_is_done(ran) -> None:
    answer = ran(0)
    assert answer.status == "done"
    assert answer.probabilities is not None
    assert np.array_equal(answer.probabilities[0], np.arange(4, dtype=np.float32) / 10)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 11, 12])
def test_host_code_that_ends_is_a_crash(ran, k: int) -> None:
    answer = ran(k)
    assert (answer.status, answer.indices, answer.probabilities) == ("crashed", None, None)
    assert answer.ended


@pytest.mark.parametrize("k", [4, 5, 6, 7])
def test_what_does_not_end_is_stopped_in_time(ran, k: int) -> None:
    started = time.monotonic()
    answer = ran(k, budget=3.0)
    assert answer.status == "timed_out"
    assert time.monotonic() - started < 25
    assert len(answer.output) < 1 << 20


def test_an_endless_kernel_is_named_with_its_line(ran) -> None:
    (event,) = ran(6, budget=3.0).events
    assert (event.kind, event.file) == ("out_of_time", FILE)
    assert "endless" in (KERNELS / FILE).read_text("utf-8").splitlines()[event.line - 1]


def test_an_exception_of_the_launcher_is_a_refusal_with_its_text(ran) -> None:
    answer = ran(10)
    assert answer.status == "refused"
    assert [event.text for event in answer.events] == ["the launcher threw: no"]


def test_a_pointer_of_the_host_is_no_device_memory(ran) -> None:
    for k in (9, 24):
        answer = ran(k)
        assert (answer.status, answer.device_error) == ("failed", 700)
        assert [event.kind for event in answer.events] == ["illegal_address"]


def test_a_forged_report_is_none(ran) -> None:
    answer = ran(13)
    assert (answer.status, answer.ended, answer.probabilities) == ("crashed", FORGED, None)


def test_outputs_of_another_size_are_none(ran) -> None:
    assert ran(14).probabilities is None


@pytest.mark.parametrize("k", [15, 16])
def test_it_starts_no_program_and_writes_nowhere(ran, k: int) -> None:
    assert ran(k).code == 6
    assert not Path("/etc/judge-tui-was-here").exists()


@pytest.mark.parametrize(("k", "code"), [(17, 9), (18, 1), (19, 9), (20, 2), (21, 0), (22, 1), (23, 1)])
def test_limits_are_a_cards(ran, k: int, code: int) -> None:
    answer = ran(k)
    assert (answer.code, answer.status) == (code, "refused" if code else "done")
    assert answer.device_error == 0


def test_cases_that_no_time_is_left_for_are_not_run(built) -> None:
    logits = np.arange(4, dtype=np.float32)[None]
    cases = [Case(logits, 0, 4), Case(logits / 10, 6, 4), Case(logits, 0, 4)]
    answers = built(FILE).run(cases, budget_s=4)
    assert [answer.status for answer in answers] == ["done", "timed_out", "not_run"]


@pytest.mark.parametrize(
    "text",
    [
        '#include "/etc/passwd"\n',
        '#include "../../../../etc/hostname"\n',
        "template <int N> struct B { B<N + 1> a; B<N + 2> b; }; B<0> bomb;\n",
        "int unfinished(\n",
    ],
)
def test_sources_that_do_not_compile_are_failures(compiling: None, text: str) -> None:
    failure = emulator.build('#include "a.cu"\n', {"a.cu": text.encode()}, seconds=60)
    assert isinstance(failure, emulator.Failure)
    assert "root:" not in failure.output


@pytest.mark.parametrize("text", ['#include "/dev/zero"\n', "#include __FILE__\n"])
def test_sources_that_never_end_are_stopped(compiling: None, text: str) -> None:
    started = time.monotonic()
    failure = emulator.build('#include "a.cu"\n', {"a.cu": text.encode()}, seconds=15)
    assert isinstance(failure, emulator.Failure)
    assert time.monotonic() - started < 60


def test_diagnostics_have_the_places_of_the_submissions_own_files(compiling: None) -> None:
    files = {"sub/k.cuh": b"\n__global__ void k(float* x) { x[0] = undefined_here; }\n"}
    failure = emulator.build('#include "sub/k.cuh"\n', files)
    assert isinstance(failure, emulator.Failure)
    assert failure.kind == "diagnostics"
    assert [(each.file, each.line) for each in failure.diagnostics if each.severity == "error"] == [
        ("sub/k.cuh", 2)
    ]


def test_a_missing_function_is_named(compiling: None) -> None:
    failure = emulator.build(f"void elsewhere();\n{LAUNCH} {{ elsewhere(); return 0; }}\n", {})
    assert isinstance(failure, emulator.Failure)
    assert failure.reason == "'elsewhere()' is used and not defined"


def test_ptx_that_is_not_known_is_refused_with_its_place(compiling: None) -> None:
    text = b'__global__ void k(int* x) {\n    asm volatile("wgmma.fence.sync.aligned;");\n}\n'
    failure = emulator.build('#include "k.cu"\n', {"k.cu": text})
    assert isinstance(failure, emulator.Failure)
    assert failure.kind == "refused"
    assert failure.reason.startswith("k.cu:2: inline PTX")


def test_a_barrier_of_the_whole_grid_is_refused_and_never_run_into(compiling: None) -> None:
    text = (
        b"#include <cooperative_groups.h>\n__global__ void k(int* x) {\n"
        b"    cooperative_groups::grid_group grid = cooperative_groups::this_grid();\n"
        b"    x[0] = grid.size();\n    grid.sync();\n}\n"
    )
    driver = f'#include "k.cu"\n{LAUNCH} {{ k<<<2, 32>>>(nullptr); return 0; }}\n'
    failure = emulator.build(driver, {"k.cu": text})
    assert isinstance(failure, emulator.Failure)
    assert failure.reason.startswith("k.cu:5: ")
    assert "a barrier of the whole grid is not emulated" in failure.reason
    assert isinstance(emulator.build(driver, {"k.cu": text.replace(b"grid.sync();", b"")}), emulator.Program)
