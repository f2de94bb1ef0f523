"""What a launcher would launch for many rows is looked at without running it."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.cuda import emulator
from judge_tui.checks.cuda.emulator import Answer, Case

#: K says how the launcher goes about it.
SOURCE = """#include <cuda_runtime.h>
__global__ void rows_of(const float* logits, int* indices) { indices[blockIdx.y] = (int)logits[blockIdx.y]; }
extern "C" int judge_launch(const float* logits, void* indices, void*, long long rows, long long V, int K) {
    int* ids = (int*)indices;
    int counted = 0;
    cudaMemset(indices, 0, rows * sizeof(int));
    if (K == 3) cudaMemcpy(&counted, ids, sizeof counted, cudaMemcpyDeviceToHost);
    for (long long r = 0; K == 4 && r < rows; r += 65535)
        rows_of<<<dim3(1, min(rows - r, 65535LL)), 32>>>(logits, ids);
    if (K != 4) rows_of<<<dim3(1, (unsigned)rows), 32>>>(logits, ids);
    if (K == 1) return 0;
    if (K == 2 && cudaGetLastError()) rows_of<<<(unsigned)rows, 32>>>(logits, ids);
    if (K == 5) rows_of<<<1, dim3(32, 33)>>>(logits, ids);
    if (K == 6) rows_of<<<1, 32>>>(logits, ids);
    return cudaGetLastError();
}
"""
TOO_MANY = "gridDim.y is 70001, and 65535 at most"


@pytest.fixture(scope="module")
def answers(compiling: None) -> list[Answer]:
    """Those of each K, of 70,001 rows, and in the end of one row that is really launched."""
    program = emulator.build('#include "planned.cu"\n', {"planned.cu": SOURCE.encode()}, seconds=300)
    assert isinstance(program, emulator.Program), program.output
    logits = np.full((1, 64), 7, np.float32)
    # what ends the process comes last
    asked = [0, 1, 2, 4, 5, 6, 3]
    cases = [Case(logits, K, 64, planned=70_001) for K in asked]
    given = program.run([*cases[:-1], Case(logits, 0, 64), cases[-1]], budget_s=120)
    *several, really, last = given
    return [*several[:3], last, *several[3:], really]


def refused(answer: Answer) -> list[str]:
    return [event.text for event in answer.events if event.kind == "refused_launch"]


def test_a_launch_beyond_a_card_s_limits_is_told_with_its_line(answers: list[Answer]) -> None:
    said, silent = answers[:2]
    assert refused(said) == refused(silent) == [TOO_MANY]
    assert (said.status, said.code) == ("refused", 9)
    event = next(event for event in said.events if event.kind == "refused_launch")
    assert (event.severity, event.file, event.line) == ("fault", "planned.cu", 10)
    assert said.indices is None


def test_what_is_launched_after_a_refusal_or_in_parts_is_none(answers: list[Answer]) -> None:
    again, in_parts = answers[2], answers[4]
    assert [again.status, in_parts.status] == ["done", "done"]
    assert refused(again) == refused(in_parts) == []


def test_a_launch_after_one_that_nobody_asked_about_is_no_second_try(answers: list[Answer]) -> None:
    assert refused(answers[6]) == [TOO_MANY]


def test_the_last_refusal_counts(answers: list[Answer]) -> None:
    assert refused(answers[5]) == ["threads to a block is 1056, and 1024 at most"]


def test_host_code_sees_nothing_that_a_kernel_would_have_made(answers: list[Answer]) -> None:
    assert answers[3].status == "crashed"
    assert refused(answers[3]) == []


def test_what_is_left_unread_is_not_the_next_one_s(answers: list[Answer]) -> None:
    really = answers[7]
    assert (really.status, int(really.indices[0, 0])) == ("done", 7)
