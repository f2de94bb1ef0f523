"""What counts as the same answer, held without a process."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.challenges.numbers.comparing import compared

_LARGE = 2**53
_RECORDS = np.array([(1.5, 2), (2.5, 3)], [("a", "f8"), ("b", "i4")])
_SWAPPED = np.array([(1.5, 3), (2.5, 2)], [("a", "f8"), ("b", "i4")])


@pytest.mark.parametrize(
    ("out", "reference"),
    [
        (Fraction(1, 2), 0.5),
        (Decimal("0.5"), np.asarray(0.5)),
        (["a", "bb"], np.array(["a", "bb"])),
        (np.array("a"), "a"),
        ("a", np.array("a")),
        ([], np.zeros(0)),
        ([], np.zeros((0, 3))),
        ([[1.0], []], [np.ones(1), np.zeros(0)]),
        ({0.1 + 0.2, 3.0}, {0.3, 3.0}),
        ({(1, 0.1 + 0.2)}, {(1, 0.3)}),
        ([_LARGE + 1, 0.5], [_LARGE + 1, 0.5]),
        (float(_LARGE), _LARGE),
        (_RECORDS, _RECORDS.copy()),
        (np.float32(3), 3),
    ],
)
def test_the_same_in_another_form_is_right(out: Any, reference: Any) -> None:
    found = compared(out, reference)
    assert not found.wrong
    assert found.error < 1e-15


@pytest.mark.parametrize(
    ("out", "reference"),
    [
        ([_LARGE + 2, 0.5], [_LARGE + 1, 0.5]),
        ([2**63 + 1, -1], [2**63, -1]),
        (float(_LARGE), _LARGE + 1),
        (np.array([float(_LARGE)]), np.array([_LARGE + 1])),
        (np.array([math.inf]), np.array([_LARGE + 1])),
        ([], np.zeros((3, 0))),
        ({0.1, 3.0}, {0.3, 3.0}),
        ({0.3, "a"}, {0.3, 3.0}),
        (_SWAPPED, _RECORDS),
        ("a", np.array("b")),
        (Decimal("sNaN"), Decimal(1)),
        (Decimal("sNaN"), 1.0),
        ([np.ones(3) * 1e6, np.ones(3) * 1.1e-6], [np.ones(3) * 1e6, np.ones(3) * 1e-6]),
    ],
)
def test_what_only_seems_the_same_is_wrong(out: Any, reference: Any) -> None:
    found = compared(out, reference)
    assert found.wrong or not found.error < 1e-3
    assert len(found.told) < 300


def test_two_numbers_that_differ_are_told_apart() -> None:
    assert compared(2.8562668, 2.8562659).told == "2.8562668 instead of 2.8562659"
    long = 10**5000
    assert compared([long + 1, "a"], [long, "a"]).wrong
    assert "ends in 000001 instead of a whole number" in compared(long + 1, long).told
