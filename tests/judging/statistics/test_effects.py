"""Seats and lengths: an effect that is there is found, none is made up, and n is told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge_tui.judging.matchup import TIE
from judge_tui.judging.statistics.comparisons import Comparison
from judge_tui.judging.statistics.effects import (
    Sized,
    length_effect,
    seat_effect_on_points,
    seat_effect_on_wins,
)


def _seats(left: int, right: int) -> list[Comparison]:
    won = ["a"] * left + ["b"] * right
    return [Comparison("kv", f"judge{at}", ("a", "b"), winner, "a") for at, winner in enumerate(won)]


def test_the_share_of_the_left_has_wilsons_interval_and_an_exact_p() -> None:
    found = seat_effect_on_wins(_seats(14, 6))
    other = stats.binomtest(14, 20)
    ends = other.proportion_ci(method="wilson")
    assert found.estimate is not None
    assert (found.estimate.value, found.n) == (0.7, 20)
    assert found.p == pytest.approx(other.pvalue)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((ends.low, ends.high))


def test_ties_unknown_seats_and_sheets_without_a_side_do_not_count() -> None:
    more = [
        Comparison("kv", "x", ("a", "b"), TIE, "a"),
        Comparison("kv", "y", ("a", "b"), "a"),
        Comparison("kv", "z", ("a", "b"), "b", "a"),
        Comparison("kv", "z", ("b", "c"), "b", "b"),
    ]
    assert seat_effect_on_wins([*_seats(4, 4), *more]).n == 8


def test_three_on_one_sheet_count_once() -> None:
    made = [
        Comparison("kv", f"judge{at}", pair, "a", "a") for at in range(6) for pair in (("a", "b"), ("a", "c"))
    ]
    assert seat_effect_on_wins(made).n == 6


def test_few_draws_have_a_sentence() -> None:
    assert seat_effect_on_wins([]).told.startswith("n = 0:")
    assert seat_effect_on_wins(_seats(5, 0)).estimate is None
    assert seat_effect_on_points([3.0] * 5).told.startswith("n = 5:")


def test_points_of_the_left_are_tested() -> None:
    found = seat_effect_on_points([2.0, 4.0, 3.0, 5.0, 1.0, 3.0, 3.0])
    assert found.estimate is not None
    assert found.estimate.value == 3
    assert found.p == 2 / 128


def _sized(slope: float, noise: float, tasks: int = 10) -> list[Sized]:
    rng = np.random.default_rng(4)
    return [
        Sized(f"t{task}", judge, f"m{model}", lines, 50 + 7 * task + kind + slope * np.log2(lines)
              + rng.normal(0, noise))
        for task in range(tasks)
        for judge, kind in (("anna", 0), ("ben", 9))
        for model, lines in enumerate(rng.integers(20, 2000, 3).tolist())
    ]  # fmt: skip


def test_a_slope_is_found_within_sheets_whatever_tasks_and_judges_give() -> None:
    found = length_effect(_sized(3.0, 0.0))
    assert found.estimate is not None
    assert (found.estimate.low, found.estimate.value, found.estimate.high) == pytest.approx((3, 3, 3))
    assert (found.n, found.blocks, found.of) == (60, 10, "tasks")


def test_an_interval_of_a_slope_holds_the_truth_and_not_0() -> None:
    found = length_effect(_sized(3.0, 4.0))
    assert found.estimate is not None
    assert 0 < found.estimate.low < 3 < found.estimate.high


def test_no_size_one_size_and_one_model_have_a_sentence() -> None:
    one = [Sized(f"t{at}", "anna", "a", 10, 70.0) for at in range(9)]
    alike = [Sized(f"t{at}", "anna", model, 10, 70.0) for at in range(9) for model in "ab"]
    empty = [Sized(f"t{at}", "anna", model, 0, 70.0) for at in range(9) for model in "ab"]
    for rows in (one, alike, empty, []):
        found = length_effect(rows)
        assert (found.n, found.estimate) == (0, None)
        assert found.told
