from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_tui.tui.look.layout import Arrangement, Sizes, Wishes, arrange, drag, grow

#: Columns, rows and code panes; the last one is too small for anything to give way.
SCREENS = [(80, 24, 2), (120, 35, 2), (120, 35, 3), (200, 60, 2), (200, 60, 3), (40, 10, 2)]
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
    assert sum(got.columns) + got.rubric == width


def parts_of(now: Arrangement) -> tuple[int, bool, bool]:
    return len(now.panes), now.rubric > 0, now.checks > 0


@pytest.mark.parametrize(("width", "height", "panes"), SCREENS)
@pytest.mark.parametrize("rubric", [None, True])
@pytest.mark.parametrize("part", ["code", "rubric", "checks"])
@pytest.mark.parametrize("steps", [-1, 1, 50, -50])
def test_a_part_grows_and_shrinks_until_the_others_have_their_least(
    width: int, height: int, panes: int, rubric: bool | None, part: str, steps: int
) -> None:
    wishes = Wishes(rubric=rubric)
    first = arrange(width, height, panes, 0, wishes, part)
    for _ in range(60):
        wishes = grow(width, height, panes, 0, wishes, part, steps)
        now = arrange(width, height, panes, 0, wishes, part)
        assert sum(now.columns) + now.rubric == width
        assert min(now.columns) >= min(30, *first.columns)
        assert now.rubric >= min(30, first.rubric)
        assert now.checks >= min(4, first.checks)
        assert height - 2 - now.checks >= min(8, height - 2 - first.checks)
        # a part that is in view is not taken away
        assert all(now >= before for now, before in zip(parts_of(now), parts_of(first), strict=True))
    assert grow(width, height, panes, 0, wishes, part, steps) == wishes
    back = grow(width, height, panes, 0, wishes, part, -1 if steps > 0 else 1)
    if wishes.sizes != Sizes():
        # what was asked for beyond the bound is not waited for
        assert arrange(width, height, panes, 0, back, part) != now


def test_what_the_keys_reach_at_usual_sizes() -> None:
    def most(width: int, height: int, part: str, steps: int) -> Arrangement:
        return arrange(width, height, 2, 0, grow(width, height, 2, 0, Wishes(), part, steps), part)

    assert most(80, 24, "code", 1).columns == (44, 36)
    assert most(80, 24, "code", 9).columns == (50, 30)
    assert most(120, 35, "rubric", 9).rubric == 60
    assert most(120, 35, "rubric", -9).rubric == 30
    assert most(200, 60, "checks", 1).checks == 17
    assert most(200, 60, "checks", 99).checks == 50
    assert most(200, 60, "checks", -99).checks == 4


def test_at_40_columns_and_10_rows_nothing_gives_way() -> None:
    for part in ("code", "rubric", "checks"):
        for steps in (-3, 3):
            assert grow(40, 10, 2, 0, Wishes(), part, steps) == Wishes()


def test_of_three_panes_two_give_alike() -> None:
    wishes = grow(240, 60, 3, 1, Wishes(rubric=False), "code", 2)
    assert arrange(240, 60, 3, 1, wishes).columns == (76, 88, 76)


def test_the_only_pane_in_view_takes_from_the_rubric() -> None:
    wishes = grow(100, 30, 2, 0, Wishes(rubric=True), "code", 2)
    assert arrange(100, 30, 2, 0, wishes).rubric == 32


def test_sizes_outlive_hiding_zooming_and_small_terminals() -> None:
    wishes = grow(200, 60, 2, 0, Wishes(), "rubric", 5)
    wishes = grow(200, 60, 2, 0, wishes, "checks", 5)
    wishes = grow(200, 60, 2, 0, wishes, "code", 5)
    large = arrange(200, 60, 2, 0, wishes)
    assert arrange(40, 10, 2, 0, wishes) == arrange(40, 10, 2, 0, Wishes())
    small = arrange(80, 24, 2, 0, wishes)
    assert small.columns == (50, 30)
    assert small.checks == 14
    zoomed = Wishes(zoom="code", sizes=wishes.sizes)
    assert arrange(200, 60, 2, 0, zoomed) == arrange(200, 60, 2, 0, Wishes(zoom="code"))
    assert grow(200, 60, 2, 0, zoomed, "code", 1) == zoomed
    assert arrange(200, 60, 2, 0, wishes) == large


def test_a_border_goes_where_it_is_dragged_as_far_as_the_parts_allow() -> None:
    def dragged(what: int | str, size: int) -> Arrangement:
        return arrange(200, 60, 3, 0, drag(200, 60, 3, 0, Wishes(rubric=False), "code", what, size))

    for size in (30, 31, 64, 65, 66, 100, 102):
        third = arrange(200, 60, 3, 0, Wishes(rubric=False)).columns[2]
        assert dragged(0, size).columns == (size, 200 - size - third, third)
    assert dragged(0, -5).columns[0] == 30
    assert dragged(1, 500).columns[2] == 30
    assert dragged("checks", 23).checks == 23
    assert dragged("checks", 0).checks == 4
    assert dragged(2, 60) == dragged("rubric", 60) == arrange(200, 60, 3, 0, Wishes(rubric=False))
    wishes = drag(200, 60, 2, 0, Wishes(), "code", "rubric", 77)
    assert arrange(200, 60, 2, 0, wishes).rubric == 77


@given(st.integers(1, 300), st.integers(1, 100), st.integers(2, 3), MAYBE, MAYBE, st.data())
def test_any_sizes_leave_each_part_in_view_a_place(
    width: int, height: int, panes: int, rubric: bool | None, checks: bool | None, data: st.DataObject
) -> None:
    number = st.integers(-400, 400)
    shares = data.draw(st.lists(st.integers(1, 5000), max_size=3).map(tuple))
    sizes = Sizes(data.draw(number), data.draw(number), shares)
    focused = data.draw(st.integers(0, panes - 1))
    own = arrange(width, height, panes, focused, Wishes(rubric, checks))
    got = arrange(width, height, panes, focused, Wishes(rubric, checks, sizes=sizes))
    assert focused in got.panes
    assert len(got.panes) >= len(own.panes)
    assert sum(got.columns) + got.rubric == width
    assert min(got.columns) >= min(30, *own.columns)
    assert bool(got.rubric) == bool(own.rubric)
    assert bool(got.checks) == bool(own.checks)
    assert got.checks <= max(own.checks, height - 10)
