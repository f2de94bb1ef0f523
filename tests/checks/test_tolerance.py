from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from judge_tui.checks.tolerance import calibrated, difference, relative_error, same_bits

Array = npt.NDArray[Any]
SHAPES = arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
SCALES = st.sampled_from([1e-300, 1e-200, 1e-30, 1.0, 1e30, 1e200])


@st.composite
def truths(draw: st.DrawFn) -> Array:
    """References at any magnitude, no row of zeros."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return np.asarray(rng.uniform(0.5, 2.0, draw(SHAPES)) * rng.choice([-1.0, 1.0]) * draw(SCALES))


@given(truths())
def test_the_truth_has_no_error(truth: Array) -> None:
    assert relative_error(truth.copy(), truth) == 0.0


@given(truths())
def test_an_answer_of_zeros_is_wholly_wrong_however_small_the_truth_is(truth: Array) -> None:
    assert relative_error(np.zeros_like(truth), truth) == pytest.approx(1.0)


@given(truths(), st.integers(0, 2**32))
def test_a_shuffled_answer_is_wrong(truth: Array, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(truth.ravel()).reshape(truth.shape)
    assume(not np.array_equal(shuffled, truth))
    assert relative_error(shuffled, truth) > 1e-12


@given(truths(), st.floats(1e-9, 1e-2))
def test_a_relative_change_is_measured_as_it_is(truth: Array, change: float) -> None:
    assert relative_error(truth * (1 + change), truth) == pytest.approx(change, rel=1e-5)


@given(st.integers(0, 4), SCALES)
def test_one_huge_row_cannot_hide_another(row: int, huge: float) -> None:
    truth = np.ones((6, 4))
    truth[5] = max(huge, 1e6)
    out = truth.copy()
    out[row] *= 1.5
    assert relative_error(out, truth) == pytest.approx(0.5)


@given(truths())
def test_a_nan_or_infinity_where_the_truth_has_none_is_never_within_a_limit(truth: Array) -> None:
    for odd in (math.nan, math.inf, -math.inf):
        out = truth.copy()
        out.ravel()[0] = odd
        assert math.isnan(relative_error(out, truth))


def test_nan_equals_nan_only_where_the_truth_says_so() -> None:
    truth = np.array([[1.0, np.nan], [np.inf, 2.0]])
    assert relative_error(truth.copy(), truth) == 0.0
    assert math.isnan(relative_error(np.array([[np.nan, 1.0], [np.inf, 2.0]]), truth))
    assert math.isnan(relative_error(np.array([[1.0, np.nan], [-np.inf, 2.0]]), truth))
    assert math.isnan(relative_error(np.array([[1.0, 0.0], [np.inf, 2.0]]), truth))


def test_rows_of_zeros_are_held_against_the_largest_row() -> None:
    truth = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert relative_error(np.array([[0.5, 0.0], [3.0, 4.0]]), truth) == pytest.approx(0.1)
    assert relative_error(np.zeros((2, 2)), np.zeros((2, 2))) == 0.0
    assert relative_error(np.full((2, 2), 1e-3), np.zeros((2, 2))) > 1e-3


def test_other_shapes_are_wrong_and_scalars_and_several_axes_are_rows_too() -> None:
    assert math.isnan(relative_error(np.ones((2, 3)), np.ones((3, 2))))
    assert relative_error(np.ones((0, 3)), np.ones((0, 3))) == 0.0
    assert relative_error(np.array(2.0), np.array(1.0)) == pytest.approx(1.0)
    assert relative_error(np.full((2, 3, 4), 2.0), np.ones((2, 3, 4)), axis=(1, 2)) == pytest.approx(1.0)
    assert relative_error(np.arange(3), np.arange(3.0)) == 0.0


def test_a_limit_follows_the_plain_error_and_has_the_floor_of_its_dtype() -> None:
    assert calibrated(1e-3, np.float32) == pytest.approx(0.05)
    assert 0 < calibrated(0.0, np.float64) < calibrated(0.0, np.float32) < 1e-4
    assert calibrated(0.0, np.float32, floor=1e-4) == 1e-4
    for nonsense in (math.nan, math.inf):
        with pytest.raises(ValueError, match="cannot calibrate"):
            calibrated(nonsense, np.float64)


def test_bits_tell_what_equality_does_not() -> None:
    assert same_bits(np.array([np.nan]), np.array([np.nan]))
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert not same_bits(np.zeros(2), np.zeros((1, 2)))
    assert not same_bits(np.zeros(2), np.zeros(2, np.float32))


def test_a_difference_with_a_nan_is_nan() -> None:
    assert difference(np.array([1.0, 2.0]), np.array([1.0, 2.5])) == 0.5
    assert math.isnan(difference(np.array([np.nan]), np.array([1.0])))


def test_a_row_whose_terms_cancel_is_measured_by_a_share_of_them() -> None:
    truth, out = np.array([[1e-9, 0.0], [3.0, 4.0]]), np.array([[1.001e-9, 0.0], [3.0, 4.0]])
    assert relative_error(out, truth) == pytest.approx(1e-3)
    assert relative_error(out, truth, least=np.array([[1e-3], [1e-3]])) == pytest.approx(1e-9)
    assert np.isnan(relative_error(np.full((2, 2), np.nan), truth, least=1.0))
