from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.card import Scorecard
from judge_tui.judging.matchup import TIE, Criterion
from judge_tui.judging.proposals import Proposal, proposed
from judge_tui.judging.rubric import Rubric, load_rubric

RUBRIC = """
[[dimension]]
id = "correctness"
weight = 3
[[dimension]]
id = "tests"
weight = 1
"""
TWO = ("a", "b")
THREE = ("a", "b", "c")


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    path = tmp_path / "kv.toml"
    path.write_text(RUBRIC)
    return load_rubric(path)


def card(model: str, **scores: int | None) -> Scorecard:
    made = Scorecard("kv", model, "anna")
    for dimension, score in scores.items():
        made = made.with_score(dimension, score)
    return made


def outcome(verdict: str, *evidence: Evidence, summary: str = "said") -> Outcome:
    return Outcome("m", "kv", "c", Verdict(verdict), summary, 0.1, evidence)


def of(
    rubric: Rubric, cards: dict[str, Scorecard], outcomes: dict[str, dict[str, Outcome]] | None = None
) -> Proposal:
    return proposed(tuple(cards), rubric, cards, outcomes or {})


def line(rubric: Rubric, *outcomes: Outcome) -> Criterion | None:
    models = THREE[: len(outcomes)]
    seen = {model: {"size": each} for model, each in zip(models, outcomes, strict=True)}
    found = of(rubric, {model: card(model) for model in models}, seen).criteria
    assert len(found) < 2
    return found[0] if found else None


def test_the_winner_and_the_margin_follow_from_the_points(rubric: Rubric) -> None:
    got = of(rubric, {"a": card("a", correctness=80, tests=60), "b": card("b", correctness=90, tests=60)})
    assert (got.winner, got.margin) == ("b", 8)
    assert got.key_differentiator == "Correctness (90 against 80)."


def test_equal_points_are_a_tie_without_a_margin(rubric: Rubric) -> None:
    same = {model: card(model, correctness=80, tests=60) for model in TWO}
    got = of(rubric, same)
    assert (got.winner, got.margin, got.key_differentiator, got.criteria) == (TIE, None, "", ())


def test_a_card_that_is_not_complete_proposes_no_winner(rubric: Rubric) -> None:
    got = of(rubric, {"a": card("a", correctness=80), "b": card("b", correctness=90, tests=60)})
    assert (got.winner, got.margin) == (None, None)
    assert [(c.name, c.edge, c.note) for c in got.criteria] == [("Correctness", "b", "10 more")]


def test_dimensions_come_by_what_they_weigh(rubric: Rubric) -> None:
    got = of(rubric, {"a": card("a", correctness=80, tests=60), "b": card("b", correctness=85, tests=70)})
    assert [c.basis for c in got.criteria] == ["dimension:correctness", "dimension:tests"]


def test_of_three_what_sets_the_first_apart_from_the_next_counts(rubric: Rubric) -> None:
    given = {"a": (85, 85), "b": (40, 60), "c": (80, 60)}
    cards = {model: card(model, correctness=c, tests=t) for model, (c, t) in given.items()}
    got = of(rubric, cards)
    assert [line.basis for line in got.criteria] == ["dimension:tests", "dimension:correctness"]
    assert got.winner == "a"
    assert got.key_differentiator.endswith("(85 against 60 and 60).")


def test_of_three_the_two_best_that_are_equal_leave_no_edge(rubric: Rubric) -> None:
    cards = {model: card(model, tests=score) for model, score in zip(THREE, (70, 70, 50), strict=True)}
    [got] = of(rubric, cards).criteria
    assert got.edge is None
    assert got.cells == {"a": "70", "b": "70", "c": "50"}


def test_a_check_that_one_passes_and_the_other_fails_is_an_edge(rubric: Rubric) -> None:
    got = line(rubric, outcome("fail", summary="rel err 0.03"), outcome("pass"))
    assert got is not None
    assert (got.edge, got.note, got.basis) == ("b", "passes, the other fails", "check:size")
    assert got.cells["a"] == "fail: rel err 0.03"


def test_the_only_one_that_passes_sets_the_winner_apart(rubric: Rubric) -> None:
    cards = {model: card(model, tests=n, correctness=n) for n, model in enumerate(TWO)}
    got = of(rubric, cards, {"a": {"size": outcome("fail")}, "b": {"size": outcome("pass")}})
    assert got.key_differentiator.endswith("passes size.")


@pytest.mark.parametrize("undecided", ["skip", "unbound", "ambiguous", "error"])
def test_what_was_not_judged_is_never_behind(rubric: Rubric, undecided: str) -> None:
    assert line(rubric, outcome(undecided), outcome("pass")) is None
    got = line(rubric, outcome("fail"), outcome("pass"), outcome(undecided))
    assert got is not None
    assert got.edge is None
    assert got.note == ""


def test_a_warning_is_behind_a_pass_without_being_called_a_failure(rubric: Rubric) -> None:
    got = line(rubric, outcome("pass"), outcome("warn"))
    assert got is not None
    assert (got.edge, got.note) == ("a", "")


def measured(value: Any, unit: str = "s", quantity: str = "one call") -> Outcome:
    return outcome("pass", Evidence(quantity, value, unit=unit))


def test_less_time_is_an_edge_and_its_figures_are_shown(rubric: Rubric) -> None:
    got = line(rubric, measured(3.0), measured(0.5))
    assert got is not None
    assert (got.edge, got.name, got.cells) == ("b", "size: one call", {"a": "3 s", "b": "0.5 s"})


def test_figures_of_which_nobody_knows_what_is_better_leave_the_edge_to_the_judge(rubric: Rubric) -> None:
    got = line(rubric, measured(275, "lines"), measured(1148, "lines"))
    assert got is not None
    assert got.edge is None


@pytest.mark.parametrize(
    ("unit", "one"), [("files", "1 file"), ("entries", "1 entry"), ("s", "1 s"), ("ms", "1 ms"), ("B", "1 B")]
)
def test_one_of_a_thing_is_told_as_one(rubric: Rubric, unit: str, one: str) -> None:
    got = line(rubric, measured(1, unit), measured(9, unit))
    assert got is not None
    assert got.cells == {"a": one, "b": f"9 {unit}"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (measured(1.0), measured(1.1)),  # as far as clocks differ
        (measured(1e-16, ""), measured(9e-16, "")),  # an error has no unit
        (measured("NaN"), measured(1.0)),
        (measured(float("nan")), measured(1.0)),
        (measured(float("inf")), measured(1.0)),
        (measured(1.0), measured(9.0, quantity="another")),
        (measured(1.0), measured(9.0, "B")),
        (measured(-1.0), measured(9.0)),
    ],
)
def test_what_is_no_difference_is_not_proposed(rubric: Rubric, first: Outcome, second: Outcome) -> None:
    assert line(rubric, first, second) is None


def test_figures_of_a_check_that_was_not_judged_are_not_compared(rubric: Rubric) -> None:
    skipped = outcome("skip", Evidence("one call", 9.0, unit="s"))
    assert line(rubric, skipped, measured(1.0)) is None


def test_times_of_different_machines_are_no_figures_of_a_matchup(rubric: Rubric) -> None:
    def timed(seconds: float, host: str) -> Outcome:
        figure = Evidence("seconds of a call", seconds, unit="s")
        return Outcome("m", "kv", "size", Verdict.PASS, "said", 0.1, (figure,), host=host)

    one = line(rubric, timed(1.0, "a"), timed(3.0, "a"))
    assert one is not None
    assert one.edge == "a"
    assert line(rubric, timed(1.0, "a"), timed(3.0, "b")) is None
