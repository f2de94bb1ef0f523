from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge_tui.tui.code.display_rows import DisplayRows, fold_marker


def test_an_open_unwrapped_file_has_a_row_per_line() -> None:
    rows = DisplayRows(3)
    assert len(rows) == 3
    assert [rows.at(row) for row in range(4)] == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_a_fold_shows_its_first_line_only() -> None:
    rows = DisplayRows(6, {1: 3})
    assert [rows.at(row)[0] for row in range(len(rows))] == [0, 1, 4, 5]
    assert rows.row_of(3) == 1
    assert rows.shown(2) == 1
    assert rows.after(1, 1) == 4
    assert rows.after(4, -1) == 1
    assert rows.after(0, 99) == 5


def test_a_fold_within_a_closed_fold_is_not_in_view() -> None:
    assert len(DisplayRows(10, {2: 8, 4: 6})) == 4


def test_a_long_line_wraps_onto_several_rows() -> None:
    rows = DisplayRows(3, None, [5, 25, 10], room=10)
    assert [rows.at(row) for row in range(len(rows))] == [(0, 0), (1, 0), (1, 10), (1, 20), (2, 0)]
    assert rows.row_of(1, 21) == 3
    assert rows.row_of(1, 99) == 3
    assert rows.row_of(2) == 4


def test_the_marker_of_a_wrapped_fold_has_a_row_of_its_own_where_the_last_is_full() -> None:
    room = len(fold_marker(2)) + 4
    behind, below = (DisplayRows(4, {1: 3}, [5, width, 10, 10], room) for width in (room + 4, room + 5))
    assert [behind.at(row) for row in range(len(behind))] == [(0, 0), (1, 0), (1, room)]
    assert [below.at(row) for row in range(len(below))] == [(0, 0), (1, 0), (1, room), (1, 2 * room)]


@given(
    st.integers(1, 40).flatmap(
        lambda count: st.tuples(
            st.just(count),
            st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=5),
            st.lists(st.integers(0, 50), min_size=count, max_size=count),
            st.sampled_from([0, 1, 7, 10]),
        )
    )
)
def test_rows_and_lines_agree(case: tuple[int, list[tuple[int, int]], list[int], int]) -> None:
    count, spans, widths, room = case
    folds = {min(span): max(span) for span in spans if span[0] != span[1]}
    rows = DisplayRows(count, folds, widths, room)
    hidden = {line for first, last in folds.items() for line in range(first + 1, last + 1)}
    places = [rows.at(row) for row in range(len(rows))]
    assert places == sorted(set(places))
    assert all(rows.row_of(line, column) == row for row, (line, column) in enumerate(places))
    # a fold that begins inside another is hidden with it, so the outer one decides
    shown = {line for line, _ in places}
    assert shown <= set(range(count)) - (hidden - shown)
    assert all(rows.shown(line) in shown and rows.shown(line) <= line for line in range(count))
    assert {line for line in range(count) if line not in hidden} <= shown
