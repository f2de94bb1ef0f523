"""Where answers are wrong on wide rows alone, the width from which on they are is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge_tui.checks.tasks.backwards.limits import Held, halving

NARROW = (3, 5, 8, 17, 33, 64, 100, 257)
DRAWN = 3 * len(NARROW) + 1


def seen(fine: Callable[[int, int, int], bool]) -> Held:
    """Usual draws of something that is right where ``fine`` says so, narrowed."""
    held = Held("dx")

    def add(*shape: int) -> None:
        held.add(0.0 if fine(*shape) else 1.0, 1e-16, shape=shape)

    for width in (*NARROW, *NARROW, *NARROW, 1024):
        add(2, 9, width)
    for width in halving([held]):
        add(1, 2, width)
    return held


@pytest.mark.parametrize("last", [258, 384, 1000, 1023])
def test_the_last_right_width_is_told(last: int) -> None:
    held = seen(lambda _b, _t, width: width <= last)
    assert held.only_where == f"right up to D = {last}, wrong from D = {last + 1} on"
    assert len(held.seen) <= DRAWN + 1 + 10 + 3


def test_a_range_of_widths_is_told_at_both_ends() -> None:
    held = seen(lambda _b, _t, width: not 257 <= width <= 528)
    assert held.only_where == "wrong for D from 257 to 528, right for smaller and larger"


def test_what_is_right_everywhere_or_wrong_on_narrow_rows_is_not_narrowed() -> None:
    for fine in (lambda *_: True, lambda _b, _t, width: width % 2 > 0):
        assert len(seen(fine).seen) == DRAWN


def test_wide_rows_that_are_right_where_rows_are_few_are_not_narrowed() -> None:
    held = seen(lambda b, t, width: b * t * width < 5000)
    assert len(held.seen) == DRAWN + 1
    assert held.only_where == ""
