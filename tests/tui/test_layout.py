from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from judge_tui.tui.look.layout import Arrangement, Situation, Sizes, Wishes, arrange, drag, grow

#: Columns, rows and code panes; the last one is too small for anything to give way.
SCREENS = [(80, 24, 2), (120, 35, 2), (120, 35, 3), (200, 60, 2), (200, 60, 3), (40, 10, 2)]
MAYBE = st.sampled_from([None, True, False])


def test_two_panes_stand_side_by_side_at_80_columns() -> None:
    got = arrange(Situation(80, 24, 2, 0, Wishes()))
    assert got.panes == (0, 1)
    assert got.rubric == 0
    assert got.checks == 6


def test_of_three_panes_those_round_the_focus_are_in_view_at_80_columns() -> None:
    assert arrange(Situation(80, 24, 3, 0, Wishes())).panes == (0, 1)
    assert arrange(Situation(80, 24, 3, 2, Wishes())).panes == (1, 2)


def test_at_80_columns_the_rubric_leaves_room_for_the_code_being_scored() -> None:
    got = arrange(Situation(80, 24, 2, 1, Wishes(rubric=True), "rubric"))
    assert got.panes == (1,)
    assert got.rubric == 40
    assert got.checks == 0


@pytest.mark.parametrize(("width", "height"), [(120, 35), (160, 45), (240, 70)])
def test_wide_screens_show_everything(width: int, height: int) -> None:
    got = arrange(Situation(width, height, 2, 0, Wishes()))
    assert got.panes == (0, 1)
    assert got.rubric
    assert got.checks


@pytest.mark.parametrize(
    ("width", "panes", "columns", "rubric"),
    [(160, 2, (60, 60), 40), (200, 3, (53, 53, 54), 40), (200, 2, (80, 80), 40), (240, 2, (91, 91), 58)],
)
def test_code_has_its_80_columns_before_the_rubric_has_more_than_it_needs(
    width: int, panes: int, columns: tuple[int, ...], rubric: int
) -> None:
    got = arrange(Situation(width, 60, panes))
    assert (got.columns, got.rubric) == (columns, rubric)
    # what is set by hand is added to it
    assert arrange(Situation(width, 60, panes, wishes=Wishes(sizes=Sizes(rubric=8)))).rubric == rubric + 8


@pytest.mark.parametrize("part", ["code", "rubric", "checks"])
def test_a_zoomed_part_has_the_screen_for_itself(part: str) -> None:
    got = arrange(Situation(100, 30, 2, 1, Wishes(zoom=part)))
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
    got = arrange(Situation(width, height, panes, focused, Wishes(rubric, checks, sidebars, alone), part))
    assert focused in got.panes
    assert got.rubric <= width
    assert got.checks <= height
    assert sum(got.columns) + got.rubric == width
    # what has the focus is to be seen
    assert min(got.columns) > 0 or part == "rubric"


@pytest.mark.parametrize("width", [20, 40, 61])
def test_too_narrow_for_both_the_rubric_is_shown_to_who_is_in_it(width: int) -> None:
    now = Situation(width, 10, 2, 1, Wishes(rubric=True))
    assert (arrange(now).columns, arrange(now).rubric) == ((width,), 0)
    assert arrange(replace(now, part="rubric")).rubric == width
    assert grow(now, 2) == now.wishes


@pytest.mark.parametrize(("panes", "least"), [(2, 30), (3, 35)])
def test_the_rubric_keeps_a_column_for_every_submission(panes: int, least: int) -> None:
    now = Situation(200, 40, panes)
    assert arrange(replace(now, wishes=drag(now, "rubric", 3))).rubric == least
    assert arrange(replace(now, wishes=grow(replace(now, part="rubric"), -50))).rubric == least


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
    first = arrange(Situation(width, height, panes, 0, wishes, part))
    for _ in range(60):
        wishes = grow(Situation(width, height, panes, 0, wishes, part), steps)
        now = arrange(Situation(width, height, panes, 0, wishes, part))
        assert sum(now.columns) + now.rubric == width
        assert min(now.columns) >= min(30, *first.columns)
        assert now.rubric >= min(30, first.rubric)
        assert now.checks >= min(4, first.checks)
        assert height - 2 - now.checks >= min(8, height - 2 - first.checks)
        # a part that is in view is not taken away
        assert all(now >= before for now, before in zip(parts_of(now), parts_of(first), strict=True))
    assert grow(Situation(width, height, panes, 0, wishes, part), steps) == wishes
    back = grow(Situation(width, height, panes, 0, wishes, part), -1 if steps > 0 else 1)
    if wishes.sizes != Sizes():
        # what was asked for beyond the bound is not waited for
        assert arrange(Situation(width, height, panes, 0, back, part)) != now


def test_what_the_keys_reach_at_usual_sizes() -> None:
    def most(width: int, height: int, part: str, steps: int) -> Arrangement:
        return arrange(
            Situation(width, height, 2, 0, grow(Situation(width, height, 2, 0, Wishes(), part), steps), part)
        )

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
            assert grow(Situation(40, 10, 2, 0, Wishes(), part), steps) == Wishes()


def test_of_three_panes_two_give_alike() -> None:
    wishes = grow(Situation(240, 60, 3, 1, Wishes(rubric=False), "code"), 2)
    assert arrange(Situation(240, 60, 3, 1, wishes)).columns == (76, 88, 76)


def test_the_only_pane_in_view_takes_from_the_rubric() -> None:
    wishes = grow(Situation(100, 30, 2, 0, Wishes(rubric=True), "code"), 2)
    assert arrange(Situation(100, 30, 2, 0, wishes)).rubric == 32


def test_sizes_outlive_hiding_zooming_and_small_terminals() -> None:
    wishes = grow(Situation(200, 60, 2, 0, Wishes(), "rubric"), 5)
    wishes = grow(Situation(200, 60, 2, 0, wishes, "checks"), 5)
    wishes = grow(Situation(200, 60, 2, 0, wishes, "code"), 5)
    large = arrange(Situation(200, 60, 2, 0, wishes))
    assert arrange(Situation(40, 10, 2, 0, wishes)) == arrange(Situation(40, 10, 2, 0, Wishes()))
    small = arrange(Situation(80, 24, 2, 0, wishes))
    assert small.columns == (50, 30)
    assert small.checks == 14
    zoomed = Wishes(zoom="code", sizes=wishes.sizes)
    assert arrange(Situation(200, 60, 2, 0, zoomed)) == arrange(Situation(200, 60, 2, 0, Wishes(zoom="code")))
    assert grow(Situation(200, 60, 2, 0, zoomed, "code"), 1) == zoomed
    assert arrange(Situation(200, 60, 2, 0, wishes)) == large


def test_a_border_goes_where_it_is_dragged_as_far_as_the_parts_allow() -> None:
    def dragged(what: int | str, size: int) -> Arrangement:
        return arrange(
            Situation(200, 60, 3, 0, drag(Situation(200, 60, 3, 0, Wishes(rubric=False), "code"), what, size))
        )

    for size in (30, 31, 64, 65, 66, 100, 102):
        third = arrange(Situation(200, 60, 3, 0, Wishes(rubric=False))).columns[2]
        assert dragged(0, size).columns == (size, 200 - size - third, third)
    assert dragged(0, -5).columns[0] == 30
    assert dragged(1, 500).columns[2] == 30
    assert dragged("checks", 23).checks == 23
    assert dragged("checks", 0).checks == 4
    assert dragged(2, 60) == dragged("rubric", 60) == arrange(Situation(200, 60, 3, 0, Wishes(rubric=False)))
    wishes = drag(Situation(200, 60, 2, 0, Wishes(), "code"), "rubric", 77)
    assert arrange(Situation(200, 60, 2, 0, wishes)).rubric == 77


@given(st.integers(1, 300), st.integers(1, 100), st.integers(2, 3), MAYBE, MAYBE, st.data())
def test_any_sizes_leave_each_part_in_view_a_place(
    width: int, height: int, panes: int, rubric: bool | None, checks: bool | None, data: st.DataObject
) -> None:
    number = st.integers(-400, 400)
    shares = data.draw(st.lists(st.integers(1, 5000), max_size=3).map(tuple))
    sizes = Sizes(data.draw(number), data.draw(number), shares)
    focused = data.draw(st.integers(0, panes - 1))
    own = arrange(Situation(width, height, panes, focused, Wishes(rubric, checks)))
    got = arrange(Situation(width, height, panes, focused, Wishes(rubric, checks, sizes=sizes)))
    assert focused in got.panes
    assert len(got.panes) >= len(own.panes)
    assert sum(got.columns) + got.rubric == width
    assert min(got.columns) >= min(30, *own.columns)
    assert bool(got.rubric) == bool(own.rubric)
    assert bool(got.checks) == bool(own.checks)
    assert got.checks <= max(own.checks, height - 10)
