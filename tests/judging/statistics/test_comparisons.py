"""Comparisons are what matchups and points say, and nothing more."""

from __future__ import annotations

from judge_tui.judging.matchup import TIE, Matchup
from judge_tui.judging.statistics.comparisons import Comparison, of_matchup, of_points, win_matrix
from judge_tui.judging.statistics.connected import groups, has_maximum


def _words(made: list[Comparison]) -> list[tuple[tuple[str, str], str]]:
    return [(each.models, each.winner) for each in made]


def test_a_winner_of_three_beats_each_of_the_others() -> None:
    made = of_matchup("kv", "anna", Matchup(("c", "a", "b"), "b"))
    assert _words(made) == [(("a", "b"), "b"), (("b", "c"), "b")]
    assert {each.sheet for each in made} == {("kv", "anna")}


def test_a_tie_of_three_is_one_of_every_two() -> None:
    made = of_matchup("kv", "anna", Matchup(("c", "a", "b"), TIE))
    assert _words(made) == [(("a", "b"), TIE), (("a", "c"), TIE), (("b", "c"), TIE)]


def test_no_winner_and_another_word_are_no_comparison() -> None:
    assert of_matchup("kv", "anna", Matchup(("a", "b"))) == []
    assert of_matchup("kv", "anna", Matchup(("a", "b"), "split")) == []


def test_points_compare_every_two_and_equal_ones_tie() -> None:
    made = of_points("kv", "anna", {"b": 80, "a": 70, "c": 80})
    assert _words(made) == [(("a", "b"), "b"), (("a", "c"), "c"), (("b", "c"), TIE)]


def test_who_sat_left_is_known_where_both_seats_are() -> None:
    seats = {"a": 1, "b": 0}
    assert [each.left for each in of_matchup("kv", "anna", Matchup(("a", "b"), "a"), seats)] == ["b"]
    assert [each.left for each in of_matchup("kv", "anna", Matchup(("a", "c"), "a"), seats)] == [""]


def test_the_win_matrix_counts_wins_and_ties() -> None:
    made = [
        Comparison("kv", judge, ("a", "b"), winner)
        for judge, winner in zip("123", ("a", "a", TIE), strict=True)
    ]
    matrix = win_matrix([*made, Comparison("kv", "4", ("b", "c"), "c")], ["b", "a", "c"])
    assert matrix.wins == ((0, 0, 0), (2, 0, 0), (1, 0, 0))
    assert matrix.ties == ((0, 1, 0), (1, 0, 0), (0, 0, 0))
    assert matrix.n == 4
    assert matrix.of("b") == (0, 1, 3)


def test_nothing_compared_is_an_empty_matrix() -> None:
    assert win_matrix([]).n == 0


def test_groups_are_those_that_comparisons_join() -> None:
    made = [Comparison("kv", "1", ("a", "b"), "a"), Comparison("kv", "1", ("c", "d"), TIE)]
    assert groups("abcde", made) == (("a", "b"), ("c", "d"), ("e",))
    assert groups("abcd", [*made, Comparison("kv", "1", ("b", "c"), "b")]) == (("a", "b", "c", "d"),)


def _plain(*words: tuple[str, str]) -> list[Comparison]:
    return [Comparison("kv", str(at), (pair[0], pair[1]), winner) for at, (pair, winner) in enumerate(words)]


def test_a_likelihood_has_a_maximum_where_wins_go_round() -> None:
    assert has_maximum("ab", _plain(("ab", "a"), ("ab", "b")))
    assert has_maximum("abc", _plain(("ab", "a"), ("bc", "b"), ("ac", "c")))


def test_a_likelihood_has_none_where_one_never_lost_or_nobody_won() -> None:
    assert not has_maximum("ab", _plain(("ab", "a"), ("ab", "a")))
    assert not has_maximum("abc", _plain(("ab", "a"), ("ab", "b")))
    assert not has_maximum("ab", _plain(("ab", TIE)))


def test_as_many_ties_as_wins_in_every_round_leave_it_without_one() -> None:
    # wins of one half and ties of the other half become as likely as can be while both grow
    assert not has_maximum("ab", _plain(("ab", "a"), ("ab", TIE)))
    assert not has_maximum("ab", _plain(("ab", "a"), ("ab", "a"), ("ab", TIE)))
    assert has_maximum("abc", _plain(("ab", "a"), ("bc", "b"), ("ac", TIE)))
