"""The truth of a top-k, and what is seen of answers that are nearly right."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.cuda.emulator import UNWRITTEN_INDEX, UNWRITTEN_PROBABILITY, Answer
from judge_tui.checks.tasks.fuse.answers import entries
from judge_tui.checks.tasks.fuse.reference import Compared, compared, truth

V, K = 50, 6


def logits(rows: int = 3) -> npt.NDArray[np.float32]:
    return np.random.default_rng(7).normal(scale=4, size=(rows, V)).astype(np.float32)


def right(x: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    order = np.argsort(-x, axis=1, kind="stable")[:, :K]
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return order, np.take_along_axis(wide / wide.sum(axis=1, keepdims=True), order, axis=1).astype(np.float32)


def held(x: npt.NDArray[np.float32], order: npt.NDArray[np.int64], p: npt.NDArray[np.float32]) -> Compared:
    return compared(x, K, order, p, np.zeros(order.shape, np.bool_))


def test_a_right_answer_is_right_in_every_row() -> None:
    x = logits()
    assert held(x, *right(x)).right(1e-5).all()


def test_ties_may_be_broken_either_way_and_zeros_are_equal() -> None:
    x = np.full((1, V), -1.0, np.float32)
    x[0, :4], x[0, 4:8] = 0.0, -0.0
    order = np.array([[7, 0, 5, 2, 4, 3]])
    p = np.repeat(np.exp(0.0 - truth(x, K).lse)[:, None], K, axis=1).astype(np.float32)
    assert held(x, order, p).right(1e-5).all()


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (lambda order: order.__setitem__((1, 2), order[1, 1]), "twice"),
        (lambda order: order.__setitem__((1, 5), V), "out of range"),
        (lambda order: order.__setitem__((1, 0), -1), "out of range"),
        (lambda order: order.__setitem__(1, order[1, ::-1].copy()), "another logit"),
    ],
)
def test_one_wrong_index_fails_its_row_alone(change: object, clause: str) -> None:
    x = logits()
    order, p = right(x)
    change(order)  # type: ignore[operator]
    found = held(x, order, p)
    assert found.chosen.tolist() == [True, False, True]
    assert clause in found.told(1)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_a_probability_that_is_none_is_an_infinite_or_full_error(value: float) -> None:
    x = logits()
    order, p = right(x)
    p[2, 3] = value
    assert held(x, order, p).right(1e-5).tolist() == [True, True, False]


def test_fewer_finite_logits_than_k_give_zero_and_nothing_else() -> None:
    x = np.full((1, V), -np.inf, np.float32)
    x[0, [3, 9]] = [1.0, 2.0]
    order = np.array([[9, 3, 0, 1, 2, 4]])
    p = np.exp(np.array([[2.0, 1.0, -np.inf, -np.inf, -np.inf, -np.inf]]) - truth(x, K).lse[:, None])
    assert held(x, order, p.astype(np.float32)).right(1e-5).all()
    p[0, 4] = np.nan
    assert not held(x, order, p.astype(np.float32)).right(1e-5).any()


def test_softmax_over_the_chosen_alone_is_seen() -> None:
    x = logits()
    order, p = right(x)
    assert not held(x, order, p / p.sum(axis=1, keepdims=True)).right(1e-5).any()


def test_what_was_not_written_is_told_and_rows_follow_their_stride() -> None:
    indices = np.full((2, 8), UNWRITTEN_INDEX["int32"], np.int32)
    chances = np.full((2, 8), UNWRITTEN_PROBABILITY, np.uint32).view(np.float32)
    indices.reshape(-1)[:10] = np.arange(10)
    chances.reshape(-1)[:10] = 0.5
    read = entries(Answer("done", indices=indices, probabilities=chances), 2, 3, 5)
    assert read.indices.tolist() == [[0, 1, 2], [5, 6, 7]]
    assert not read.unwritten.any()
    assert read.beyond == 0
    assert entries(Answer("done", indices=indices, probabilities=chances), 2, 3, 8).unwritten.sum() == 1


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (lambda p, x: p / p.sum(axis=1, keepdims=True), "normalised over the K entries"),
        (lambda p, x: p / p.max(axis=1, keepdims=True), "divided by 1 in place of its sum"),
        (lambda p, x: np.log(p), "logarithms"),
        (lambda p, x: -np.sort(-x, axis=1)[:, :K], "the logits themselves"),
        (lambda p, x: p * 0, "all zero"),
        (lambda p, x: p * np.nan, "6 of 6 are NaN"),
        (lambda p, x: p * np.inf, "infinities"),
        (lambda p, x: p * 1.5, ""),
        (lambda p, x: (np.float32(p).view(np.uint32) >> 16 << 16).view(np.float32), "rounded to bfloat16"),
        (lambda p, x: p.astype(np.float16).astype(np.float32), "rounded to float16"),
        (lambda p, x: np.where(np.arange(K) < 2, p, np.float32(0)), "from place 2 on they are 0"),
        (lambda p, x: p[:, ::-1], "beside other indices"),
        (lambda p, x: p, ""),
    ],
)
def test_wrong_probabilities_are_told_by_what_they_are(change: object, clause: str) -> None:
    x = logits()
    order, p = right(x)
    told = held(x, order, np.asarray(change(p.astype(np.float64), x), np.float32)).because  # type: ignore[operator]
    assert clause in told if clause else not told


def test_near_a_certain_entry_no_other_name_is_given() -> None:
    x = np.full((1, V), -40.0, np.float32)
    x[0, 3] = 40.0
    order, p = right(x)
    assert not held(x, order, p).because
    assert not held(x, order, p * 2).because


def test_an_entry_of_probability_zero_may_have_no_index() -> None:
    x = np.full((1, V), -np.inf, np.float32)
    x[0, [7, 3]] = 2.0, 1.0
    order = np.array([[7, 3, -1, -1, -1, -1]])
    p = np.exp(np.array([[2.0, 1.0, *[-np.inf] * 4]]) - truth(x, K).lse[:, None]).astype(np.float32)
    found = held(x, order, p)
    assert found.right(1e-5).all()
    assert found.blank.tolist() == [4]
    wrong = p.copy()
    wrong[0, 2] = 0.1
    assert not held(x, order, wrong).right(1e-5).any()
    assert not held(x, np.array([[-1, 3, -1, -1, -1, -1]]), p).right(1e-5).any()
