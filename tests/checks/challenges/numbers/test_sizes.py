"""Sizes between the cases are of the cases' kind, and stand to each other as theirs do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.challenges.numbers.sizes import between

Holds = Callable[[Mapping[str, Any]], bool]


@pytest.mark.parametrize(
    ("cases", "holds"),
    [
        ([{"n": 5}, {"n": 97}, {"n": 33}], lambda at: at["n"] % 2 == 1),
        ([{"n": 5}, {"n": 97}, {"n": 7}], lambda at: all(at["n"] % i for i in range(2, at["n"]))),
        ([{"n": 4}, {"n": 36}, {"n": 900}], lambda at: math.isqrt(at["n"]) ** 2 == at["n"]),
        ([{"n": 1}, {"n": 4}, {"n": 1024}], lambda at: at["n"] & (at["n"] - 1) == 0),
        ([{"n": 64, "k": 33}, {"n": 1024, "k": 1000}], lambda at: at["k"] < at["n"]),
        ([{"n": 6, "h": 2}, {"n": 15, "h": 5}, {"n": 640, "h": 8}], lambda at: at["n"] % at["h"] == 0),
        ([{"n": 5, "m": 6}, {"n": 97, "m": 98}], lambda at: at["m"] == at["n"] + 1),
        (
            [{"s": (2, 3), "a": 1}, {"s": (2, 3, 4), "a": 2}, {"s": (2, 3), "a": 9}],
            lambda at: at["s"] == (2, 3),
        ),
        ([{"n": 3, "k": None}, {"n": 30, "k": 2}], lambda at: at["k"] in (None, 2)),
    ],
)
def test_what_holds_in_every_case_holds_between_them(cases: list[dict[str, Any]], holds: Holds) -> None:
    drawn = [each for seed in range(20) for each in between(cases, np.random.default_rng(seed), 3)]
    assert drawn
    assert all(map(holds, drawn)), drawn


def test_two_squares_are_no_kind() -> None:
    assert list(between([{"n": 4}, {"n": 9}], np.random.default_rng(0), 3))
