from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_tui.tui.look.layout import Wishes, arrange

MAYBE = st.sampled_from([None, True, False])


def test_two_panes_stand_side_by_side_at_80_columns() -> None:
    got = arrange(80, 24, 2, 0, Wishes())
    assert got.panes == (0, 1)
    assert got.rubric == 0
    assert got.checks == 6


def test_of_three_panes_those_round_the_focus_are_in_view_at_80_columns() -> None:
    assert arrange(80, 24, 3, 0, Wishes()).panes == (0, 1)
    assert arrange(80, 24, 3, 2, Wishes()).panes == (1, 2)


def test_at_80_columns_the_rubric_leaves_room_for_the_code_being_scored() -> None:
    got = arrange(80, 24, 2, 1, Wishes(rubric=True), "rubric")
    assert got.panes == (1,)
    assert got.rubric == 40
    assert got.checks == 0


@pytest.mark.parametrize(("width", "height"), [(120, 35), (160, 45), (240, 70)])
def test_wide_screens_show_everything(width: int, height: int) -> None:
    got = arrange(width, height, 2, 0, Wishes())
    assert got.panes == (0, 1)
    assert got.rubric
    assert got.checks


@pytest.mark.parametrize("part", ["code", "rubric", "checks"])
def test_a_zoomed_part_has_the_screen_for_itself(part: str) -> None:
    got = arrange(100, 30, 2, 1, Wishes(zoom=part))
    assert [bool(got.panes), bool(got.rubric), bool(got.checks)] == [
        part == "code",
        part == "rubric",
        part == "checks",
    ]


@given(
    st.integers(1, 300),
    st.integers(1, 100),
    st.integers(2, 3),
    st.data(),
    MAYBE,
    MAYBE,
    MAYBE,
    st.booleans(),
    st.sampled_from(["code", "rubric", "checks"]),
)
def test_the_focused_pane_is_in_view_and_nothing_is_larger_than_the_screen(
    width: int,
    height: int,
    panes: int,
    data: st.DataObject,
    rubric: bool | None,
    checks: bool | None,
    sidebars: bool | None,
    alone: bool,
    part: str,
) -> None:
    focused = data.draw(st.integers(0, panes - 1))
    got = arrange(width, height, panes, focused, Wishes(rubric, checks, sidebars, alone), part)
    assert focused in got.panes
    assert got.rubric <= width
    assert got.checks <= height
