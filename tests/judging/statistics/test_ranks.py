"""Models share a rank exactly where they cannot be told apart."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from judge_tui.judging.statistics.ranks import ranks, said


def test_who_is_told_from_all_has_a_rank_alone() -> None:
    assert ranks("abc", [("a", "b"), ("a", "c"), ("b", "c")]) == {"a": (1,), "b": (2,), "c": (3,)}


def test_all_share_the_first_rank_where_nobody_is_told_apart() -> None:
    assert ranks("abc", []) == {"a": (1,), "b": (1,), "c": (1,)}


def test_one_between_two_that_differ_shares_a_rank_with_each() -> None:
    found = ranks("abc", [("c", "a")])
    assert found == {"a": (1,), "b": (1, 2), "c": (2,)}
    assert [said(found[model]) for model in "abc"] == ["1", "1–2", "2"]


def test_no_model_and_one_model_have_their_ranks() -> None:
    assert ranks("", []) == {}
    assert ranks("a", []) == {"a": (1,)}


def test_ranks_that_do_not_follow_each_other_are_listed() -> None:
    assert said((1, 3)) == "1, 3"


@given(st.sets(st.sampled_from(list(combinations("abcdef", 2)))))
def test_two_share_a_rank_unless_they_are_told_apart(apart: set[tuple[str, str]]) -> None:
    found = ranks("abcdef", apart)
    for pair in combinations("abcdef", 2):
        assert bool(set(found[pair[0]]) & set(found[pair[1]])) == (pair not in apart)
