"""What rows take from others is told by what it gives for every row of a launch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.tasks.fuse.other_rows import Rows, taken_from_others, which_are_wrong

Floats = npt.NDArray[np.float64]
COUNT = 24


def launch(made: Callable[[Floats, Floats], Floats]) -> Rows:
    rng = np.random.default_rng(8)
    top = rng.normal(scale=3, size=COUNT)
    log = top + rng.uniform(1, 3, size=COUNT)
    seen = made(top, log)
    return Rows(top, log, seen, np.abs(seen - log) < 1e-5, 1000)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda top, log: log, ""),
        (lambda top, log: log + np.random.default_rng(1).normal(size=COUNT), ""),
        (lambda top, log: np.append(log[1:], log[-1]), "divided by the sum of the row 1 behind it"),
        (
            lambda top, log: np.append(top[:1], top[:-1]) + log - top,
            "takes the maximum of the row 1 before it",
        ),
        (
            lambda top, log: np.repeat(np.logaddexp.reduce(log.reshape(-1, 4), axis=1), 4),
            "4 rows next to each other share one maximum and one sum",
        ),
        (
            lambda top, log: top + np.repeat(np.logaddexp.reduce((log - top).reshape(-1, 8), axis=1), 8),
            "8 rows next to each other add up to one sum",
        ),
        (
            lambda top, log: np.append(log[:14], np.logaddexp(log[14:], log[:10])),
            "the sum of the row 14 before it, which the same block had, is still in a row's",
        ),
    ],
)
def test_what_is_taken_from_others_is_told(made: Callable[[Floats, Floats], Floats], words: str) -> None:
    found = taken_from_others([launch(made)])
    assert words in found
    assert bool(words) is bool(found)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.arange(COUNT) >= 16, "the rows from 16 on are wrong"),
        (np.arange(COUNT) == COUNT - 1, "the last row is wrong"),
        (np.arange(COUNT) % 4 == 3, "rows 3, 7, …, one in 4, are wrong"),
        (np.arange(COUNT) % 8 > 0, "rows with row % 8 > 0 are wrong"),
        (np.arange(COUNT) * 1003 % 4 != 0, "rows that begin off a 16-byte boundary are wrong"),
        (np.isin(np.arange(COUNT), [2, 3, 11]), ""),
        (np.ones(COUNT, dtype=bool), ""),
    ],
)
def test_which_rows_are_wrong_is_told(wrong: npt.NDArray[np.bool_], words: str) -> None:
    some = np.zeros(COUNT)
    V = 1003 if "boundary" in words else 1000
    assert which_are_wrong([Rows(some, some, some, ~wrong, V)]) == words
