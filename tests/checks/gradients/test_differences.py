"""Coloured differences, projections and the complex step agree with each other and with the formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.gradients import (
    Independence,
    block_sums,
    central,
    complex_step,
    differences,
    independent,
    projection,
    signs,
)
from judge_tui.checks.tasks.backwards.reference import Batch, gradients, statistics

Array = npt.NDArray[Any]

ROWS = Independence("x", ((0, 0), (1, 1)))
FEATURES = Independence("gamma", ((0, 2),))


def layer_norm(at: Mapping[str, Array]) -> Array:
    x = at["x"]
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred * centred).mean(axis=-1, keepdims=True)
    return np.asarray(at["gamma"] * centred / np.sqrt(var + 1e-5) + at["beta"])


def drawn(seed: int, shape: tuple[int, ...] = (2, 3, 8)) -> tuple[dict[str, Array], Array]:
    rng = np.random.default_rng(seed)
    at = {name: rng.standard_normal(shape if name == "x" else shape[-1:]) for name in ("x", "gamma", "beta")}
    return at, rng.standard_normal(shape)


def truth(at: Mapping[str, Array], dy: Array) -> Batch:
    return Batch(at["x"], at["gamma"], at["beta"], 1e-5, dy)


@given(st.integers(0, 2**31))
def test_the_complex_step_confirms_the_analytic_reference(seed: int) -> None:
    at, dy = drawn(seed)
    ours = gradients(truth(at, dy))
    for name, blocks in (("x", ROWS), ("gamma", FEATURES), ("beta", Independence("beta", ((0, 2),)))):
        exact = complex_step(layer_norm, at, blocks, dy)
        assert np.max(np.abs(getattr(ours, f"d{name}") - exact)) < 1e-10 * (1 + np.max(np.abs(exact)))


def test_the_statistics_survive_an_offset_that_two_passes_do_not() -> None:
    at, dy = drawn(1)
    small = truth(at, dy)
    far = Batch(small.x + 2.0**40, small.gamma, small.beta, small.eps, dy)
    exact = Batch(far.x - 2.0**40, small.gamma, small.beta, small.eps, dy)
    assert np.allclose(statistics(far).xhat, statistics(exact).xhat, rtol=1e-13, atol=1e-13)


def test_all_rows_at_once_give_what_one_element_at_a_time_gives() -> None:
    at, dy = drawn(2)
    coloured = differences(layer_norm, at, ROWS, dy)
    single = differences(layer_norm, at, Independence("x"), dy)
    assert np.max(np.abs(coloured.value - single.value)) < 1e-8
    assert np.max(np.abs(coloured.value - complex_step(layer_norm, at, ROWS, dy))) < 1e-8


def test_the_cost_does_not_grow_with_the_number_of_rows() -> None:
    calls = 0

    def counted(at: Mapping[str, Array]) -> Array:
        nonlocal calls
        calls += 1
        return layer_norm(at)

    counts = []
    for shape in ((1, 1, 8), (4, 9, 8)):
        calls = 0
        at, dy = drawn(3, shape)
        differences(counted, at, ROWS, dy)
        counts.append(calls)
    assert counts[0] == counts[1] == 6 * 8


@pytest.mark.parametrize("seed", range(5))
def test_an_element_that_is_half_wrong_shows_in_the_projection(seed: int) -> None:
    at, dy = drawn(seed, (2, 4, 256))
    rng = np.random.default_rng(seed + 100)
    direction = signs(rng, dy.shape)
    estimate = projection(layer_norm, at, ROWS, dy, direction)
    right = gradients(truth(at, dy)).dx
    wrong = right.copy()
    index = np.unravel_index(int(np.argmax(np.abs(right))), right.shape)
    wrong[index] *= 0.5
    off = [np.abs((dx * direction).sum(-1) - estimate.value) for dx in (right, wrong)]
    assert np.all(off[0] <= 50 * np.maximum(estimate.noise, np.median(estimate.noise)) + 1e-9)
    assert off[1][index[:2]] > 1e3 * np.median(estimate.noise)


def test_a_float32_function_gets_a_coarser_step_and_says_how_noisy_it_is() -> None:
    at, dy = drawn(4)

    def single(at: Mapping[str, Array]) -> Array:
        return layer_norm({name: value.astype(np.float32) for name, value in at.items()}).astype(np.float64)

    fine, coarse = differences(layer_norm, at, ROWS, dy), differences(single, at, ROWS, dy)
    assert fine.step < coarse.step
    assert fine.disagreement < 1e-8 < coarse.disagreement < 1e-3


def test_rows_that_reach_each_other_are_not_taken_for_independent() -> None:
    at, _dy = drawn(5)
    rng = np.random.default_rng(0)
    assert independent(layer_norm, at, ROWS, rng)

    def over_time(at: Mapping[str, Array]) -> Array:
        return layer_norm({**at, "x": np.cumsum(at["x"], axis=1)})

    assert not independent(over_time, at, ROWS, rng)


def test_blocks_come_in_the_order_of_the_inputs_axes() -> None:
    values = np.arange(24.0).reshape(2, 3, 4)
    turned = block_sums(values, Independence("w", ((0, 2), (1, 0))))
    assert np.array_equal(turned, values.sum(axis=1).T)


@given(st.integers(0, 2**31))
def test_two_points_agree_with_the_formula_within_the_noise_that_a_sample_shows(seed: int) -> None:
    at, dy = drawn(seed, (2, 3, 12))
    exact = gradients(truth(at, dy)).dx
    spread = 1.0 / statistics(truth(at, dy)).rstd
    calls = 0

    def counted(inputs: Mapping[str, Array]) -> Array:
        nonlocal calls
        calls += 1
        return layer_norm(inputs)

    found = central(counted, at, ROWS, dy, scale=spread, sampled=4)
    assert calls == 2 * 12 + 2 * 4
    assert np.linalg.norm(found.value - exact) < 1e-6 * np.linalg.norm(exact)
    assert (found.noise > 0).all()
    wrong = central(counted, at, ROWS, dy + 0.01, scale=spread)
    assert np.linalg.norm(wrong.value - exact) > 100 * np.linalg.norm(found.noise)
