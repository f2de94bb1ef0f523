"""Intervals hold the truth about as often as they say: loosely here, and at length by ``make coverage``."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from judge_tui.judging.statistics.estimate import Estimate
from tools.coverage.__main__ import PAGE
from tools.coverage.draws import tie_parameter
from tools.coverage.settings import SETTINGS, SPREAD, Held, differences


def _share(held: list[Held]) -> float:
    return float(np.mean([estimate.low <= truth <= estimate.high for estimate, truth in held]))


@pytest.mark.thorough
def test_differences_of_four_models_are_covered_at_30_comparisons() -> None:
    draw = partial(differences, strengths=SPREAD, n=30)
    held = [pair for seed in range(100) for pair in draw(np.random.default_rng([1, seed]))]
    assert len(held) == 600
    assert 0.92 <= _share(held) <= 0.99


@pytest.mark.parametrize("what", ["difference in points", "alpha"])
def test_other_intervals_cover_too(what: str) -> None:
    setting = next(one for one in SETTINGS if one.what == what and not one.n.startswith("6 "))
    held = [pair for seed in range(200) for pair in setting.draw(np.random.default_rng([2, seed]))]
    assert len(held) == 200
    assert 0.86 <= _share(held) <= 0.995


def test_the_page_has_every_setting_and_differences_are_covered_there() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    told = [row for row in rows if len(row) == 6 and row[4].endswith("%")]
    written = {(row[0].lstrip("| "), row[1], row[2]): float(row[4].rstrip("%")) for row in told}
    assert list(written) == [(one.what, one.how, one.n) for one in SETTINGS]
    for (_, _, n), share in written.items():
        if n.endswith("comparisons"):
            assert (93 if n.startswith("100") else 92) <= share <= 97


def test_a_fifth_of_what_is_drawn_is_a_tie() -> None:
    tie = tie_parameter((0.0, 0.0), 0.2)
    assert tie / (2 + tie) == pytest.approx(0.2)


def test_an_estimate_says_on_which_side_of_0_it_is() -> None:
    assert Estimate(2, 1, 3, 9).excludes_zero
    assert (-Estimate(2, 1, 3, 9)).excludes_zero
    assert not Estimate(2, -1, 3, 9).excludes_zero
