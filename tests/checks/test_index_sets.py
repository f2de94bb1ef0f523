"""Places that are wrong are told by the simplest rule that fits all arrays, and not where none does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.index_sets import places_told

LENGTHS = (50, 75, 103)
RULES: dict[str, Callable[[Any, int], Any]] = {
    "the last row": lambda at, n: at == n - 1,
    "rows behind the last multiple of 16": lambda at, n: at >= n // 16 * 16,
    "rows from 32 on": lambda at, n: at >= 32,
    "the first 8 rows": lambda at, n: at < 8,
    "every second block of 16 rows": lambda at, n: at % 32 >= 16,
    "the first of every two blocks of 8 rows": lambda at, n: at % 16 < 8,
    "rows of odd number": lambda at, n: at % 2 == 1,
    "rows that a last tile of 16, pulled back to be whole, shares with the one before": (
        lambda at, n: (at >= n - 16) & (at < n // 16 * 16)
    ),
}


@pytest.mark.parametrize("words", RULES)
def test_a_rule_is_told_that_fits_every_length(words: str) -> None:
    sets = [np.asarray(RULES[words](np.arange(n), n)) for n in LENGTHS]
    assert places_told(sets, "rows") == words


def test_an_integer_of_the_source_comes_first() -> None:
    sets = [np.arange(n) >= 37 for n in LENGTHS]
    assert places_told(sets, "rows") == "rows 37 to 49 of 50"
    assert places_told(sets, "rows", (37,)) == "rows from 37 on"


def test_nothing_is_told_of_all_of_none_or_of_some_without_a_rule() -> None:
    for value in (True, False):
        assert places_told([np.full(n, value) for n in LENGTHS], "rows") == ""
    assert places_told([np.isin(np.arange(n), (3, 17, 29)) for n in LENGTHS], "rows") == ""
