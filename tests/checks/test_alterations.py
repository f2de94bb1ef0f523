"""How an array was changed in place: the words for it."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.generic.purity.alterations import altered

ARRAY = np.random.default_rng(0).standard_normal((4, 5))


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (np.clip(ARRAY, -0.5, 0.5), "numbers are cut to [-0.5, 0.5]"),
        (np.maximum(ARRAY, 0.0), "numbers are cut to 0 at least"),
        (np.minimum(ARRAY, 0.25), "numbers are cut to 0.25 at most"),
        (0 * ARRAY, "all are 0"),
        (-3 * ARRAY, "all times -3"),
        (ARRAY - 1.5, "all plus -1.5"),
        (ARRAY[::-1].copy(), "the same numbers in another order"),
        (np.where(np.arange(20).reshape(4, 5) == 7, np.nan, ARRAY), "1 of 20 numbers are not finite"),
        (ARRAY + (np.arange(20).reshape(4, 5) < 3), "3 of 20 numbers are others"),
        (ARRAY - ARRAY.mean(axis=-1, keepdims=True), "every row centred: its mean is taken off"),
        (
            (ARRAY - ARRAY.mean(-1, keepdims=True)) / np.sqrt(ARRAY.var(-1, keepdims=True) + 1e-5),
            "every row centred and divided by a number of its own, its deviation: it is normalised",
        ),
        (ARRAY * np.array([[2.0], [3.0], [5.0], [7.0]]), "every row multiplied by a number of its own"),
        (np.exp(ARRAY - ARRAY.max(axis=-1, keepdims=True)), "exp(x − max) of every row"),
        (np.cumsum(ARRAY, axis=-1), "running sums along every row"),
        (np.rint(ARRAY), "all rounded to whole numbers"),
        (ARRAY, ""),
    ],
)
def test_what_became_of_an_array_is_told(after: np.ndarray, told: str) -> None:
    assert altered(ARRAY, after).endswith(told)
    assert bool(altered(ARRAY, after)) == bool(told)


def test_nothing_is_told_of_what_holds_no_numbers() -> None:
    assert altered(np.array(["a"]), np.array(["b"])) == ""
    assert altered(np.zeros((0, 3)), np.zeros((0, 3))) == ""
