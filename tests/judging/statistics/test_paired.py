"""Differences are tested by all patterns of signs, and their intervals are those of the test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judge_tui.judging.statistics.paired import judges_apart, paired_difference
from judge_tui.judging.statistics.quantiles import normal, student
from judge_tui.judging.statistics.sign_flips import FEWEST_BLOCKS, MOST_EXACT, blocked, flipped


def _mean(values: list[float]) -> list[tuple[float, float]]:
    return [(value, 1.0) for value in values]


def test_quantiles_are_those_of_scipy() -> None:
    for level in (0.5, 0.9, 0.95, 0.99):
        assert normal(level) == pytest.approx(stats.norm.ppf(0.5 + level / 2), abs=1e-9)
        for freedom in (1, 2, 3, 4, 5, 10, 31, 200):
            assert student(level, freedom) == pytest.approx(stats.t.ppf(0.5 + level / 2, freedom), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_p_is_that_of_scipys_exact_permutation_test(seed: int) -> None:
    values = np.random.default_rng(seed).integers(-6, 12, 9).astype(float)
    other = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert flipped(_mean(list(values)), "tasks", 9).p == pytest.approx(other.pvalue)


def test_six_differences_of_one_sign_are_the_least_that_say_something() -> None:
    found = flipped(_mean([1, 2, 3, 4, 5, 6]), "tasks", 6)
    assert found.p == 2 / 64
    assert found.estimate is not None
    # the first and the last of the means of all subsets
    assert (found.estimate.low, found.estimate.value, found.estimate.high) == (1, 3.5, 6)
    few = flipped(_mean([1, 2, 3, 4, 5]), "tasks", 5)
    assert few.estimate is few.p is None
    assert few.told == "n = 5: fewer than 6 tasks say nothing of what is chance."


def test_no_difference_has_p_1() -> None:
    found = flipped(_mean([0.0] * 8), "tasks", 8)
    assert found.p == 1
    assert found.estimate is not None
    assert not found.estimate.excludes_zero


@settings(max_examples=40)
@given(st.lists(st.integers(-20, 20), min_size=FEWEST_BLOCKS, max_size=12), st.randoms(use_true_random=False))
def test_an_interval_excludes_0_exactly_where_p_is_at_most_a_twentieth(
    values: list[int], chance: object
) -> None:
    found = flipped(_mean([float(v) for v in values]), "tasks", len(values))
    assert found.estimate is not None
    assert found.p is not None
    assert found.estimate.excludes_zero == (found.p <= 0.05)
    assert found.estimate.low <= found.estimate.value <= found.estimate.high
    chance.shuffle(values)  # type: ignore[attr-defined]
    assert flipped(_mean([float(v) for v in values]), "tasks", len(values)) == found


def test_many_blocks_are_sampled_the_same_way_each_time() -> None:
    values = list(np.random.default_rng(0).normal(1, 2, MOST_EXACT + 20))
    found = flipped(_mean(values), "tasks", len(values))
    assert found == flipped(_mean(values), "tasks", len(values))
    assert found.estimate is not None
    assert found.p is not None
    assert found.p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.01)
    assert found.estimate.low == pytest.approx(
        stats.ttest_1samp(values, 0).confidence_interval().low, abs=0.1
    )


def test_judges_of_one_task_are_one_block_where_there_are_tasks_enough() -> None:
    cells = {(f"t{task}", f"j{judge}"): (1.0, 1.0) for task in range(6) for judge in range(4)}
    found = blocked(cells, "tasks as judges saw them", 24)
    assert (found.n, found.blocks, found.of, found.p) == (24, 6, "tasks", 2 / 64)
    few = blocked(
        {key: value for key, value in cells.items() if key[0] < "t5"}, "tasks as judges saw them", 20
    )
    assert (few.n, few.blocks, few.of) == (20, 20, "tasks as judges saw them")


POINTS = {
    (f"t{task}", judge): {"a": 70.0 + task + extra, "b": 70.0 - extra, "c": 50.0}
    for task in range(7)
    for judge, extra in (("anna", 0), ("ben", 3))
}


def test_a_difference_is_over_what_both_have_points_on() -> None:
    part = {**POINTS, ("t9", "anna"): {"a": 99.0}}
    found = paired_difference(part, "a", "b")
    assert found.n == 14
    assert found.estimate is not None
    assert found.estimate.value == pytest.approx(3 + 3)
    swapped = paired_difference(part, "b", "a")
    assert swapped.p == found.p
    assert swapped.estimate == -found.estimate


def test_a_model_that_nobody_scored_has_n_0() -> None:
    found = paired_difference(POINTS, "a", "nobody")
    assert found.n == 0
    assert found.told


def test_judges_differ_with_and_without_their_signs() -> None:
    found, apart = judges_apart(POINTS, "anna", "ben")
    assert found.n == 21
    assert apart == pytest.approx(2)
    assert found.estimate is not None
    assert found.estimate.value == pytest.approx(0)
    assert judges_apart(POINTS, "anna", "carl")[1] is None
