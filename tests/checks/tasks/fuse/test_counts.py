"""Launchers whose result says how much they did, in place of an error code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from judge_tui.checks.cuda.emulator import Answer, Case
from judge_tui.checks.cuda.reading import read
from judge_tui.checks.tasks.fuse.driver import VARIANT_BITS
from judge_tui.checks.tasks.fuse.trial import Settled, settle

SOURCE = """
__global__ void topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {}
extern "C" RETURNS launch_topk(const float* logits, int* indices, float* probs, int rows, int V, int K,
                               void* stream) {
    topk<<<rows, 32, 0, static_cast<cudaStream_t>(stream)>>>(logits, indices, probs, rows, V, K);
}
"""


class Counting:
    """A program that answers for K up to 64, gives K then and -2 beyond, and reads it as its text says."""

    def __init__(self, text: str, right: bool) -> None:
        self.counts, self.right = "given > 0 ? 0" in text, right

    def run(self, cases: Sequence[Case], *, budget_s: float) -> list[Answer]:
        del budget_s
        return [self._answer(case) for case in cases]

    def _answer(self, case: Case) -> Answer:
        K, rows = case.k & ((1 << VARIANT_BITS) - 1), len(case.logits)
        order = np.argsort(-case.logits, axis=1)[:, :K].astype(np.int32)
        weights = np.exp(case.logits - case.logits.max(1, keepdims=True))
        chances = np.take_along_axis(weights / weights.sum(1, keepdims=True), order, 1).astype(np.float32)
        indices = np.full((rows, case.stride), -1, np.int32)
        probabilities = np.zeros((rows, case.stride), np.float32)
        indices.reshape(-1)[: rows * K] = order.reshape(-1) if self.right else 0
        probabilities.reshape(-1)[: rows * K] = chances.reshape(-1)
        code = -2 if K > 64 else 0 if self.counts else K
        return Answer("refused" if code else "done", code, indices=indices, probabilities=probabilities)


def settled(returns: str, right: bool = True) -> Settled:
    reading = read({"a.cu": SOURCE.replace("RETURNS", returns).encode()})
    return settle(reading, lambda text: Counting(text, right), np.random.default_rng(3))


@pytest.mark.parametrize("returns", ["int", "long long", "size_t"])
def test_a_positive_result_beside_right_answers_is_success(returns: str) -> None:
    found = settled(returns)
    assert (found.launcher.returns, found.launcher.kernel, found.score) == ("count", False, 1.0)
    assert 10 in found.answered
    assert found.refused == {128: -2, 256: -2}
    assert found.launcher.args[-1] == "stream"


def test_an_error_of_cudas_stays_one_and_wrong_answers_excuse_no_code() -> None:
    for launcher in (settled("cudaError_t").launcher, settled("int", right=False).launcher):
        assert launcher.returns != "count"
