"""The program for a card: it builds; where there is no card it says so and gives no verdict."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from judge_tui.checks.backends import driver_trouble
from judge_tui.checks.cuda import card
from judge_tui.checks.cuda.emulator import Case, Failure
from judge_tui.checks.cuda.toolchains import find_nvcc
from judge_tui.checks.errors import EngineError

NVCC = find_nvcc()
pytestmark = pytest.mark.skipif(NVCC is None or shutil.which("g++") is None, reason="needs nvcc")
DRIVER = """
#include "k.cu"
extern "C" int judge_launch(const float* x, void* at, void* p, long long rows, long long V, int K) {
    largest<<<(int)rows, 1>>>(x, (int*)at, (float*)p, (int)V);
    return (int)cudaGetLastError();
}
"""
KERNEL = b"""
__global__ void largest(const float* x, int* at, float* p, int V) {
    x += (long long)blockIdx.x * V;
    int best = 0;
    for (int v = 1; v < V; ++v) if (x[v] > x[best]) best = v;
    float sum = 0;
    for (int v = 0; v < V; ++v) sum += expf(x[v] - x[best]);
    at[blockIdx.x] = best;
    p[blockIdx.x] = 1 / sum;
}
"""


def built(kernel: bytes, driver: str = DRIVER) -> card.CardProgram | Failure:
    assert NVCC is not None
    return card.build(NVCC, driver, {"k.cu": kernel}, capability="90")


def test_a_refused_source_is_told_by_file_and_line() -> None:
    failure = built(KERNEL.replace(b"int best = 0;", b""))
    assert isinstance(failure, Failure)
    assert (failure.diagnostics[0].file, failure.diagnostics[0].line) == ("k.cu", 5)


@pytest.mark.skipif(not driver_trouble(), reason="there is a card")
def test_without_a_card_that_is_the_engine_s_fault_and_nothing_is_answered() -> None:
    program = built(KERNEL)
    assert isinstance(program, card.CardProgram)
    with pytest.raises(EngineError, match="no memory on the card: CUDA driver version is insufficient"):
        program.run([Case(np.zeros((1, 8), np.float32), 1, 1)], budget_s=20)


@pytest.mark.gpu
@pytest.mark.skipif(bool(driver_trouble()), reason="no card")
def test_on_a_card_the_largest_is_found_and_the_launch_is_timed() -> None:
    program = built(KERNEL)
    assert isinstance(program, card.CardProgram)
    logits = np.random.default_rng(3).normal(size=(7, 1000)).astype(np.float32)
    (answer,) = program.run([Case(logits, 1, 1, schedule=-1)], budget_s=60)
    assert answer.status == "done"
    assert answer.indices is not None
    assert answer.indices[:, 0].tolist() == logits.argmax(axis=1).tolist()
    assert [event.kind for event in answer.events] == ["timing"]
