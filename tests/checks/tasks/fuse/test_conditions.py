"""Rows that have more and more of one property tell from which amount on they are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.tasks.fuse.conditions import Condition, bound
from judge_tui.checks.tasks.fuse.families import CROWDED, FAMILIES, Family
from judge_tui.checks.tasks.fuse.hard_rows import keys, plain, sharing

EVERY = [family for group in FAMILIES for family in group]


@pytest.mark.parametrize(
    ("seen", "limits"),
    [
        ({1: True, 8: True, 9: False, 20: False}, (8, 9)),
        ({1: True, 9: True}, None),
        ({1: False, 9: False}, None),
        ({1: True, 5: False, 10: True, 20: True, 30: True}, None),
        ({1: True, 5: False, 10: False, 20: False, 30: False, 40: True, 50: True, 60: True}, (1, 5)),
    ],
)
def test_an_amount_tells_where_nothing_below_it_is_wrong(
    seen: dict[float, bool], limits: tuple[float, float] | None
) -> None:
    assert bound(seen) == limits


@pytest.mark.parametrize("family", EVERY, ids=lambda family: family.name)
@pytest.mark.parametrize("K", [2, 10, 64])
def test_rows_have_as_much_of_a_property_as_is_asked_for(family: Family, K: int) -> None:
    rng = np.random.default_rng(1)
    for amount in family.amounts(K):
        row = family.row(rng, K, amount)
        assert row.shape[0] == 1
        assert row.dtype == np.float32
        if family is not CROWDED and family.whole and amount > 1:
            assert family.measured(row[0], K) >= 0.99 * amount


def test_a_plain_row_has_little_of_any_property() -> None:
    row = plain(np.random.default_rng(2), 10)[0]
    for family in EVERY:
        assert family.measured(row, 10) <= max(family.amounts(10)[1], 12), family.name


@pytest.mark.parametrize("bits", [6, 9, 11, 20])
def test_rows_share_so_many_leading_bits_and_no_more(bits: int) -> None:
    row = sharing(np.random.default_rng(3), 10, 2000, bits)
    leading = np.sort(keys(row[0]))[::-1][:2000]
    assert len(np.unique(leading >> np.uint32(32 - bits))) == 1
    assert len(np.unique(leading >> np.uint32(31 - bits))) == 2
    crowd = Condition(CROWDED, 10, 1024, 1025, "", bits=bits)
    assert crowd.holds(row[0], 10)
    assert not crowd.holds(plain(np.random.default_rng(4), 10)[0], 10)
