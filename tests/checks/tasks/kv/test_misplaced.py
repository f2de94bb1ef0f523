"""Where stored keys have gone: the words for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from judge_tui.checks.tasks.kv.words.misplaced import misplaced

TRUTH = np.random.default_rng(0).standard_normal((2, 3, 9, 16))


def _changed(change: Callable[[np.ndarray], None]) -> np.ndarray:
    got = TRUTH.copy()
    change(got)
    return got


def _zeros(got: np.ndarray) -> None:
    got[:, :, :4] = 0.0


def _later(got: np.ndarray) -> None:
    got[:, :, :8] = TRUTH[:, :, 1:]


def _heads(got: np.ndarray) -> None:
    got[:, :2] = TRUTH[:, 1::-1]


def _sequence(got: np.ndarray) -> None:
    got[1] = TRUTH[0]


def _scaled(got: np.ndarray) -> None:
    got[:, 1] *= 3.0


def _infinite(got: np.ndarray) -> None:
    got[0, 0, 5] = np.inf


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_zeros, "tokens 0 to 3 of 9: zeros"),
        (_later, "tokens 0 to 7 of 9: what stood 1 later"),
        (_heads, "heads 0 to 1 of 3: what another head had"),
        (_sequence, "sequence 1: what another sequence had"),
        (_scaled, "head 1: right but for a factor of 3"),
        (_infinite, "token 5, head 0, sequence 0: not finite"),
    ],
)
def test_what_stands_in_the_wrong_places_is_told(change: Callable[[np.ndarray], None], told: str) -> None:
    assert misplaced(_changed(change), TRUTH, 1e-5) == told


def test_nothing_is_told_of_right_rows_or_of_other_shapes() -> None:
    assert misplaced(TRUTH + 1e-9, TRUTH, 1e-5) == ""
    assert misplaced(TRUTH[:1], TRUTH, 1e-5) == ""
