"""Right kernels in several styles give right answers, in lockstep and shuffled, and no fault is seen."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.cuda.emulator import Answer, Case

RIGHT = {
    "shuffles.cu": "int32",
    "groups.cu": "int32",
    "sorting.cu": "int64",
    "locked.cu": "int32",
    "copies.cu": "int32",
}


def right(logits: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-logits, axis=1, kind="stable")[:, :k]
    wide = logits.astype(np.float64)
    odds = np.exp(wide - wide.max(1, keepdims=True))
    return order, np.take_along_axis(odds / odds.sum(1, keepdims=True), order, 1)


def agrees(answer: Answer, logits: np.ndarray, k: int) -> bool:
    order, probabilities = right(logits, k)
    assert answer.indices is not None
    assert answer.probabilities is not None
    return bool((answer.indices == order).all()) and np.allclose(
        answer.probabilities, probabilities, rtol=1e-5
    )


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_are_right_and_without_fault(built, logits: np.ndarray, name: str) -> None:
    cases = [Case(logits, k, k, RIGHT[name], schedule) for k in (1, 10) for schedule in (0, 1, 2)]
    for case, answer in zip(cases, built(name).run(cases, budget_s=120), strict=True):
        assert answer.status == "done", answer
        assert agrees(answer, logits, case.k), (case.schedule, answer)
        assert [event for event in answer.events if event.severity != "note"] == []


def test_a_vocabulary_of_128256_takes_seconds(built) -> None:
    rng = np.random.default_rng(2)
    logits = np.stack([rng.permutation(128256) for _ in range(4)]).astype(np.float32) / 6000
    (answer,) = built("shuffles.cu").run([Case(logits, 8, 8)], budget_s=120)
    assert agrees(answer, logits, 8)
    # 0.8 s were measured
    assert 0 < answer.cpu_seconds < 10


def test_a_refusal_is_told_by_its_code_and_writes_nothing(built, logits: np.ndarray) -> None:
    (answer,) = built("shuffles.cu").run([Case(logits, 33, 33)], budget_s=60)
    assert (answer.status, answer.code, answer.device_error) == ("refused", 1, 0)
    assert answer.indices is not None
    assert (answer.indices == 0x7F7F7F7F).all()
    assert answer.probabilities is not None
    assert np.isnan(answer.probabilities).all()


def test_a_wider_stride_leaves_what_was_not_written(built, logits: np.ndarray) -> None:
    (answer,) = built("shuffles.cu").run([Case(logits[:1], 8, 12)], budget_s=60)
    assert answer.indices is not None
    assert (answer.indices[0, :8] == right(logits[:1], 8)[0]).all()
    assert (answer.indices[0, 8:] == 0x7F7F7F7F).all()


def test_device_memory_that_the_launch_allocates_is_counted(built, logits: np.ndarray) -> None:
    scratch, none = built("locked.cu"), built("shuffles.cu")
    assert scratch.run([Case(logits, 8, 8)], budget_s=60)[0].peak_bytes == 2 * len(logits) * 4
    assert none.run([Case(logits, 8, 8)], budget_s=60)[0].peak_bytes == 0


def test_bytes_read_of_the_input_are_counted(built, logits: np.ndarray) -> None:
    # one pass for the softmax, and one for each of the top k
    (answer,) = built("shuffles.cu").run([Case(logits, 8, 8)], budget_s=60)
    assert answer.input_bytes == (1 + 8) * logits.nbytes
