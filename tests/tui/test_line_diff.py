from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from judge_tui.tui.code.line_diff import aligned, changed

LINES = st.lists(
    st.sampled_from(["", "a = 1", "a = 2", "return scores @ values", "return score @ value"]), max_size=12
)


def test_lines_written_differently_stand_beside_each_other() -> None:
    left = ["scores = q @ k.T", "weights = softmax(scores)", "return weights @ v"]
    right = ["scores = (q @ k.T) * scale", "print('debugging here')", "return weights @ values"]
    assert aligned([left, right]) == [(0, 0), (1, None), (None, 1), (2, 2)]


def test_an_equal_line_goes_before_a_like_one() -> None:
    assert aligned([["x = first(a)"], ["x = first(b)", "x = first(a)"]]) == [(None, 0), (0, 1)]


def test_three_texts_are_aligned_with_the_first_and_gaps_with_each_other() -> None:
    first = ["begin(x)", "end(x)"]
    second = ["begin(x)", "only_in_others(1)", "end(x)"]
    third = ["begin(x)", "only_in_others(2)", "end(x)"]
    assert aligned([first, second, third]) == [(0, 0, 0), (None, 1, 1), (1, 2, 2)]


def test_long_texts_are_paired_by_equal_lines() -> None:
    left = [f"line {n}" for n in range(500)]
    right = [*left[:250], "new", *left[250:]]
    rows = aligned([left, right])
    assert (None, 250) in rows
    assert sum(a is not None and b is not None for a, b in rows) == 500


def test_what_differs_in_a_line_is_told_by_words() -> None:
    ours = "scores = q @ k.T * scale"
    assert [ours[a:b] for a, b in changed(ours, "scores = q @ keys.T * scale")] == ["k"]


@given(st.lists(LINES, min_size=2, max_size=3))
def test_every_line_stands_in_one_row_in_order(texts: list[list[str]]) -> None:
    rows = aligned(texts)
    for side, text in enumerate(texts):
        assert [row[side] for row in rows if row[side] is not None] == list(range(len(text)))
    assert all(any(line is not None for line in row) for row in rows)
