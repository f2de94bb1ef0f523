from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from judge_tui.tui.code import equal_lines as equal_lines_module
from judge_tui.tui.code.equal_lines import equal_lines
from judge_tui.tui.code.line_diff import aligned, changed, line_diff

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


def test_a_long_line_is_compared_as_a_whole() -> None:
    line, other = f"t = [{'1, ' * 700}]", f"t = [{'1, ' * 700}2]"
    assert aligned([[line], [other]]) == [(0, None), (None, 0)]
    assert aligned([[line], ["x", line]]) == [(None, 0), (0, 1)]
    assert changed(line, other) == [(0, len(line))]
    assert changed(line, line) == []
    assert "2,000 characters" in line_diff([[line], [other]]).left_out
    assert line_diff([["a"], ["b"]]).left_out == ""


def test_lines_are_held_against_each_other_up_to_a_number_of_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held: list[int] = []
    monkeypatch.setattr("rapidfuzz.fuzz.ratio", lambda a, b, **_: held.append(len(a) * len(b)) or 100.0)
    left = [f"{n}{'x' * 1_500}" for n in range(60)]
    found = line_diff([left, [*left[:30], "y" * 1_500, *left[30:]]])
    assert held == []
    assert found.changes == [30]
    assert found.left_out == "too long: only equal lines are paired"
    assert line_diff([left[:10], left[10:20]]).left_out == ""
    assert 0 < sum(held) < 1_000_000_000


def naive(left: list[int], right: list[int]) -> int:
    """Length of the longest common sequence."""
    row = [0] * (len(right) + 1)
    for a in left:
        above = row
        row = [0]
        for at, b in enumerate(right):
            row.append(above[at] + 1 if a == b else max(row[-1], above[at + 1]))
    return row[-1]


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)), st.sampled_from([0, 20, 10_000]))
def test_equal_lines_are_paired_in_order_and_all_that_can_be_in_short_texts(
    left: list[int], right: list[int], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal_lines_module, "_MOST_PAIRS", most)
        pairs = equal_lines([str(n) for n in left], [str(n) for n in right])
    assert all(left[a] == right[b] for a, b in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    if most == 10_000:
        assert len(pairs) == naive(left, right)


def test_texts_of_any_length_are_compared_in_short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    opcodes = Indel.opcodes
    monkeypatch.setattr(
        "rapidfuzz.distance.Indel.opcodes", lambda a, b: asked.append(len(a) * len(b)) or opcodes(a, b)
    )
    left = [f"a{n}" for n in range(9_000)]
    right = [f"{'b' if n % 100 == 0 else 'a'}{n}" for n in range(9_000)]
    assert len(equal_lines(left, right)) == 8_910
    assert sum(asked) <= 16_000_000
