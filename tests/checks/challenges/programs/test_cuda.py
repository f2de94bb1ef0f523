"""CUDA programs with a main of their own, by the emulator."""

from __future__ import annotations

import pytest

from judge_tui.checks.cuda import emulator
from judge_tui.checks.verdict import Verdict

from .conftest import Judged

CASES = {"cases/1.in": "5 1 2 3 4 5\n", "cases/1.ans": "2 4 6 8 10\n"}
PROGRAM = """
#include <cstdio>
#include <iostream>
#include <vector>
__global__ void twice(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
int main() {
    int n;
    std::cin >> n;
    std::vector<float> values(n);
    for (auto& value : values) std::cin >> value;
    float *x, *y;
    cudaMalloc(&x, n * 4), cudaMalloc(&y, n * 4);
    cudaMemcpy(x, values.data(), n * 4, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(x, y, n);
    cudaMemcpy(values.data(), y, n * 4, cudaMemcpyDeviceToHost);
    for (auto value : values) printf("%g ", value);
    return 0;
}
"""


@pytest.fixture(autouse=True)
def emulated() -> None:
    if trouble := emulator.available():
        pytest.skip(trouble)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "told", "line"),
    [
        ("if (i < n)", "", Verdict.PASS, "the emulator saw out_of_bounds at a.cu:7", 7),
        ("return 0", "return x[0]", Verdict.FAIL, "its host code broke off", 20),
        ("<cstdio>", "<thrust/sort.h>", Verdict.SKIP, "needs a GPU: the emulator does not run it", 0),
    ],
)
def test_a_cuda_program_is_judged_without_a_card(
    judged: Judged, old: str, new: str, verdict: Verdict, told: str, line: int
) -> None:
    (outcome,) = judged(CASES, {"a.cu": PROGRAM.replace(old, new, 1)})
    assert outcome.verdict is verdict, outcome
    assert told in outcome.summary
    assert outcome.location == (("a.cu", line) if line else None)
