"""Whether a recorded curve falls, of many noisy points and of few."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from judge_tui.checks.tasks.ternary_training.curve import trend


@pytest.mark.parametrize(
    "values",
    [[3.4, 2.67, 2.51, 2.3, 2.42, 2.2], [5.0, 4.0, 3.0, 2.0, 1.0], [9.0, 3.0, 2.2, 2.0, 1.9, 1.95, 1.8]],
)
def test_few_points_fall_by_their_order_though_they_bend(values: list[float]) -> None:
    assert trend(values).falls


@pytest.mark.parametrize("values", [[3.4, 2.6, 2.3, 2.35, 2.2], [3.0, 2.6, 2.5, 2.2, 2.3]])
def test_of_too_few_points_a_likely_fall_is_no_certain_one(values: list[float]) -> None:
    assert not trend(values).falls
    assert trend(values).may_fall


@pytest.mark.parametrize("values", [[3.0, 3.1, 2.9, 3.05, 2.95, 3.0], [2.0] * 8, [1.0, 2.0, 3.0, 4.0, 5.0]])
def test_what_goes_up_and_down_or_stays_does_not_fall(values: list[float]) -> None:
    assert not trend(values).falls
    assert not trend(values).may_fall


def test_the_chance_of_an_order_is_its_share_of_all_orders() -> None:
    def rising(order: tuple[int, ...]) -> int:
        return sum(a < b for a, b in itertools.combinations(order, 2))

    orders = list(itertools.permutations(range(6)))
    for order in orders[::37]:
        share = np.mean([rising(other) <= rising(order) for other in orders])
        assert trend([float(x) for x in order]).chance == pytest.approx(share)
