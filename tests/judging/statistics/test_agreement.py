"""Alpha is Krippendorff's, with missing scores too, and says when it says nothing."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_tui.judging.statistics.agreement import FEWEST_UNITS, agreement, alpha

#: Krippendorff (2011), section E: four observers, twelve units, missing ones among them.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def _by_judge(rows: list[list[int | None]]) -> list[dict[str, float]]:
    return [
        {f"judge{at}": float(score) for at, score in enumerate(unit) if score is not None}
        for unit in zip(*rows, strict=True)
    ]


def test_the_published_example_has_its_published_alpha() -> None:
    found = agreement(_by_judge(PUBLISHED))
    assert found.alpha is not None
    assert found.alpha.value == pytest.approx(0.849, abs=5e-4)
    assert (found.n, found.judges) == (11, 4)
    assert found.alpha.low < found.alpha.value < found.alpha.high < 1


SCORES = st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, 100)), min_size=3, max_size=3), min_size=2, max_size=20
)


@settings(max_examples=60)
@given(SCORES)
def test_alpha_is_that_of_krippendorff_with_missing_scores(units: list[list[int | None]]) -> None:
    table = np.array([[np.nan if s is None else s for s in unit] for unit in units]).T
    pairable = [[s for s in unit if s is not None] for unit in units]
    values = {score for unit in pairable if len(unit) > 1 for score in unit}
    found = alpha(pairable)
    if len(values) < 2:
        assert found is None
    else:
        assert found == pytest.approx(krippendorff.alpha(table, level_of_measurement="interval"), abs=1e-9)


@settings(max_examples=20)
@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_submissions_and_the_names_of_judges_make_no_difference(
    units: list[list[int | None]], chance: object
) -> None:
    found = agreement(_by_judge([list(row) for row in zip(*units, strict=True)]))
    chance.shuffle(units)  # type: ignore[attr-defined]
    rows = [list(row) for row in zip(*units, strict=True)]
    assert agreement(_by_judge(rows[::-1])) == found


def test_few_submissions_have_a_sentence_and_no_alpha() -> None:
    found = agreement([{"anna": 70, "ben": 74}, {"anna": 80, "ben": 78}, {"anna": 1}])
    assert (found.n, found.alpha, found.apart) == (2, None, 3)
    assert found.told == f"n = 2: agreement on fewer than {FEWEST_UNITS} submissions says nothing."


def test_one_judge_alone_has_no_agreement() -> None:
    assert agreement([{"anna": 70}] * 20).n == 0
    assert agreement([]).told


@pytest.mark.parametrize("same", [True, False])
def test_scores_that_do_not_vary_have_a_sentence(same: bool) -> None:
    found = agreement([{"anna": 70 if same else at, "ben": 70 if same else at} for at in range(12)])
    assert (found.n, found.alpha, found.apart) == (12, None, 0)
    assert "hardly vary" in found.told


def test_an_alpha_by_hand() -> None:
    # within: (0 + 4) · 2 / (2 · 1) per unit over 4 values; among all: 24 of 12 ordered pairs
    assert alpha([[1, 1], [3, 5]]) == pytest.approx(1 - (8 / 4) / ((2 * (4 * 36 - 100)) / 12))
    assert math.isclose(alpha([[0, 1], [0, 1], [0, 1]]) or 0, 1 - 1 / 0.6)
