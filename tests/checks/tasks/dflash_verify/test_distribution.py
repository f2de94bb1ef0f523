from __future__ import annotations

import math

import numpy as np
import pytest

from judge_tui.checks.tasks.dflash_verify.tails import binomial_tail


@pytest.mark.parametrize(("total", "share"), [(7, 0.3), (40, 0.5), (400, 0.04)])
def test_the_tail_is_the_sum_of_its_binomial_chances(total: int, share: float) -> None:
    chances = [math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(total + 1)]
    assert sum(chances) == pytest.approx(1.0)
    for count in (0, 1, total // 3, total // 2, total):
        least = 2 * min(sum(chances[: count + 1]), sum(chances[count:]))
        assert binomial_tail(count, total, share) == pytest.approx(min(1.0, least), rel=1e-9)


def test_true_draws_are_hardly_ever_far_off() -> None:
    counts = np.random.default_rng(3).binomial(420, 0.28, 4000)
    tails = np.array([binomial_tail(int(count), 420, 0.28) for count in counts])
    for level in (0.1, 0.01):
        assert (tails < level).mean() < 1.5 * level
    assert tails.min() > 1e-6


def test_what_cannot_come_and_came_is_as_far_off_as_can_be() -> None:
    assert binomial_tail(1, 10, 0.0) == 0.0
    assert binomial_tail(0, 10, 0.0) == 1.0
