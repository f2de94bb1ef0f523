"""What stands beside a model on Home, its order, and the words of a filter; without a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.judging.fellow_judges import Fellow, Word, fellows
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.standing import Standing
from judge_tui.tui.home_rows import OWN, Order, RowSaid, in_order, matches, outcome, said_of_row
from judge_tui.tui.widgets.matrix_columns import NARROW, arranged


def test_an_order_is_turned_round_by_asking_twice_and_comes_back_as_it_was_written() -> None:
    mean = Order().by("mean")
    assert (mean.down, mean.by("mean").down, mean.by("model").down) == (True, False, False)
    for order in (mean, mean.by("mean"), Order("task:kv@x", down=True)):
        assert Order.read(order.written) == order
    for odd in ("", "mean", "+nothing", "?mean", "-"):
        assert Order.read(odd) == Order()


def test_models_without_a_figure_come_last_both_ways() -> None:
    figures = {"a": 3.0, "b": None, "c": 7.0, "d": 3.0}
    models = tuple(figures)
    assert in_order(models, Order("mean", down=True), figures.get) == ("c", "a", "d", "b")
    assert in_order(models, Order("mean"), figures.get) == ("a", "d", "c", "b")
    assert in_order(models, Order("model", down=True), figures.get) == ("d", "c", "b", "a")


def test_a_row_says_mean_what_is_left_matchups_and_how_far_others_are() -> None:
    known = [
        Standing("a", "kv", files=1, points=80, judged=True),
        Standing("a", "fuse", files=1, points=60, judged=True),
        Standing("a", "beam", files=1),
        Standing("a", "gone"),
    ]
    matchups = [Matchup(("a", "b"), "a"), Matchup(("a", "c"), "tie"), Matchup(("a", "b", "c"), "c")]
    # what was not scored by oneself is compared with nothing
    others = {"kv": {"bert": Word(86, judged=True)}, "beam": {"bert": Word(10, judged=True)}}
    said = said_of_row(known, "a", matchups, others)
    assert said == RowSaid(70.0, 2, 3, won=1, lost=1, tied=1, others=86.0, above=6.0, both=1)
    assert (said.left, said.figure("won"), said.figure("others")) == (1, 0, 6.0)
    assert said_of_row([], "a", [], {}).figure("mean") is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("", True), ("qwen", True), ("QWEN 36", True), ("open", True), ("qwen stale", False), ("glm", False)],
)
def test_all_words_of_a_filter_are_of_the_name_or_say_what_is_so(typed: str, meant: bool) -> None:
    assert matches(typed, "Qwen 3", "qwen36", lambda word: word == "open") == meant


@pytest.mark.parametrize(
    ("matchup", "told"),
    [
        (Matchup(("a", "b"), "b", 5), "B beat A by 5"),
        (Matchup(("a", "b", "c"), "b"), "B beat A, C"),
        (Matchup(("a", "b"), "tie"), "A · B: tie"),
        (Matchup(("a", "b"), "split", 3), "A · B: split"),
        (Matchup(("a", "b")), "A · B"),
    ],
)
def test_a_matchup_says_who_won_in_a_few_words(matchup: Matchup, told: str) -> None:
    assert "".join(outcome(matchup, str.upper)) == told


def test_judges_have_left_what_they_have_not_judged_and_are_apart_where_both_gave_points() -> None:
    own = {("a", "kv"): Word(80, judged=True), ("b", "kv"): Word(70, judged=True), ("c", "kv"): Word()}
    others = {
        ("a", "kv"): {"bert": Word(90, judged=True)},
        ("b", "kv"): {"bert": Word(68, judged=True), "carl": Word(None, judged=True)},
        ("c", "kv"): {"bert": Word(50, judged=True)},
        ("gone", "kv"): {"bert": Word(1, judged=True)},
    }
    anna, bert, carl = fellows("anna", own, others)
    assert (anna.name, anna.judged, anna.left) == ("anna", 2, 1)
    assert bert == Fellow("bert", 3, 3, apart=6.0, above=4.0, both=2)
    assert (carl.left, carl.apart) == (2, None)


@given(st.integers(20, 400), st.integers(1, 60), st.integers(1, 30))
def test_columns_never_take_more_than_there_is_and_one_task_is_always_in_view(
    width: int, longest: int, tasks: int
) -> None:
    columns = arranged(width, longest, tasks, OWN)
    assert columns.shown >= 1
    assert columns.cell >= NARROW
    if width >= 60:
        assert columns.before + columns.cell * columns.shown <= width
        assert "mean" in dict(columns.own)
    if columns.shown < tasks:
        assert columns.cell == NARROW


def test_what_needs_most_comes_first_and_a_wide_screen_is_filled() -> None:
    narrow, usual, wide = (arranged(width, 12, 6, OWN) for width in (80, 120, 240))
    assert [column for column, _ in narrow.own] == ["mean"]
    assert [column for column, _ in usual.own] == ["mean", "left", "won", "others"]
    assert wide.before + wide.cell * wide.shown > 230
    assert dict(wide.own)["mean"] > dict(usual.own)["mean"]
    assert wide.own_at(wide.names) == "mean"
    assert wide.own_at(wide.names - 1) is None
    assert wide.task_at(wide.before) == 0
