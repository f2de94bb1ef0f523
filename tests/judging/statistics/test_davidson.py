"""Strengths are those that others compute, finite on any data; intervals end where likelihood falls."""

from __future__ import annotations

import math
from collections.abc import Sequence

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from judge_tui.judging.matchup import TIE
from judge_tui.judging.statistics.comparisons import Comparison
from judge_tui.judging.statistics.davidson import Ratings, maximum_likelihood, ratings
from tools.coverage.draws import comparisons, sheets

MODELS = ("m0", "m1", "m2", "m3")
STRENGTHS = (0.75, 0.25, -0.25, -0.75)


def _drawn(seed: int, n: int = 60, ties: float = 0.2) -> list[Comparison]:
    return comparisons(np.random.default_rng(seed), STRENGTHS, n, ties)


def _repeated(*words: tuple[str, str, int]) -> list[Comparison]:
    """Of two models, the winner, and how often."""
    each = [(pair, winner) for pair, winner, times in words for _ in range(times)]
    return [Comparison("kv", str(at), (pair[0], pair[1]), winner) for at, (pair, winner) in enumerate(each)]


def _chances(made: Comparison, strengths: dict[str, float], tie: float) -> float:
    one, other = (math.exp(strengths[model]) for model in made.models)
    even = tie * math.sqrt(one * other)
    return {made.models[0]: one, made.models[1]: other, TIE: even}[made.winner] / (one + other + even)


def _unlikely(theta: Sequence[float], made: list[Comparison]) -> float:
    strengths = dict(zip(MODELS, (*theta[:3], -sum(theta[:3])), strict=True))
    return -sum(math.log(_chances(each, strengths, math.exp(theta[3]))) for each in made)


def _penalised(theta: Sequence[float], made: list[Comparison]) -> float:
    """The likelihood with Jeffreys' prior, the information being that of numerical moments."""
    information = np.zeros((4, 4))
    frame = np.vstack([np.eye(3), -np.ones(3)])
    strengths = frame @ np.asarray(theta[:3])
    for each in made:
        i, j = (MODELS.index(model) for model in each.models)
        half = np.append((frame[i] - frame[j]) / 2, 0.0)
        rows = np.array([half, -half, [0, 0, 0, 1]])
        odds = np.exp(rows @ np.append(theta[:3], theta[3]))
        mean = odds / odds.sum() @ rows
        information += sum(
            p * np.outer(r - mean, r - mean) for p, r in zip(odds / odds.sum(), rows, strict=True)
        )
    assert strengths.sum() == pytest.approx(0)
    return _unlikely(theta, made) - float(np.linalg.slogdet(information)[1]) / 2


@pytest.mark.parametrize("seed", range(3))
def test_without_ties_strengths_are_those_of_choix(seed: int) -> None:
    made = _drawn(seed, ties=1e-9)
    wins = []
    for each in made:
        lost = each.models[1] if each.winner == each.models[0] else each.models[0]
        wins.append((MODELS.index(each.winner), MODELS.index(lost)))
    other = choix.ilsr_pairwise(4, wins, alpha=0.0, tol=1e-12)
    found = maximum_likelihood(made)
    assert [found.strengths[model] for model in MODELS] == pytest.approx(list(other), abs=1e-6)
    assert found.tie == 0


@pytest.mark.parametrize("seed", range(3))
def test_without_ties_strengths_are_those_of_evalica(seed: int) -> None:
    made = _drawn(seed, ties=1e-9)
    won = [evalica.Winner.X if each.winner == each.models[0] else evalica.Winner.Y for each in made]
    pairs = [each.models for each in made]
    other = evalica.bradley_terry(
        [one for one, _ in pairs], [two for _, two in pairs], won, tolerance=1e-13, limit=100_000
    )
    logs = {model: math.log(other.scores[model]) for model in MODELS}
    centre = sum(logs.values()) / 4
    found = maximum_likelihood(made).strengths
    assert found == pytest.approx({model: value - centre for model, value in logs.items()}, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_with_ties_strengths_are_where_scipy_finds_the_maximum(seed: int) -> None:
    made = _drawn(seed)
    near = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000}
    other = minimize(_unlikely, np.zeros(4), args=(made,), method="Nelder-Mead", options=near)
    found = maximum_likelihood(made)
    assert [found.strengths[model] for model in MODELS[:3]] == pytest.approx(list(other.x[:3]), abs=1e-6)
    assert math.log(found.tie) == pytest.approx(other.x[3], abs=1e-6)


def test_two_models_have_the_odds_that_are_worked_by_hand() -> None:
    found = maximum_likelihood(_repeated(("ab", "a", 6), ("ab", "b", 3), ("ab", TIE, 6)))
    assert found.strengths["a"] - found.strengths["b"] == pytest.approx(math.log(2), abs=1e-9)
    assert found.tie == pytest.approx(6 / math.sqrt(6 * 3), abs=1e-9)
    assert found.n == 15


def test_the_penalised_fit_is_where_scipy_finds_its_maximum() -> None:
    made = _drawn(5, n=30)
    other = minimize(_penalised, np.zeros(4), args=(made,), method="BFGS", options={"gtol": 1e-6})
    found = ratings(made)
    values = [found.strengths[model].value for model in MODELS[:3]]
    assert values == pytest.approx(list(other.x[:3]), abs=1e-5)


def test_an_interval_ends_where_the_penalised_profile_has_fallen_by_half_a_quantile() -> None:
    made = _drawn(5, n=30)
    found = ratings(made)
    top = -minimize(_penalised, np.zeros(4), args=(made,), method="BFGS").fun

    def profile(difference: float) -> float:
        def at(rest: Sequence[float]) -> float:
            return _penalised([rest[0] + difference, rest[0], rest[1], rest[2]], made)

        return -float(minimize(at, [0.0, 0.0, -0.5], method="BFGS").fun)

    difference = found.difference("m0", "m1")
    for end in (difference.low, difference.high):
        assert top - profile(end) == pytest.approx(3.841459 / 2, abs=1e-4)


@pytest.mark.parametrize("n", [10, 1000])
def test_who_won_everything_has_a_finite_strength_and_interval(n: int) -> None:
    made = _repeated(("ab", "a", n))
    assert maximum_likelihood(made).told
    found = ratings(made)
    difference = found.difference("a", "b")
    assert found.separated
    assert 0 < difference.low < difference.value < difference.high < 50


@pytest.mark.parametrize("winner", [TIE, "all for one", "chain"])
def test_figures_are_finite_whoever_wins_whatever(winner: str) -> None:
    words = {
        TIE: [("ab", TIE, 9), ("bc", TIE, 9)],
        "all for one": [("ab", "a", 5), ("ac", "a", 5), ("bc", "b", 1), ("bc", "c", 1)],
        "chain": [("ab", "a", 5), ("bc", "b", 5), ("ac", "a", 5)],
    }[winner]
    found = ratings(_repeated(*words))
    figures = [*found.strengths.values(), *found.differences.values()]
    assert all(math.isfinite(x) for each in figures for x in (each.value, each.low, each.high))
    assert all(each.low < each.value < each.high for each in figures)
    assert sum(each.value for each in found.strengths.values()) == pytest.approx(0)


def test_disconnected_models_are_told_and_not_ranked() -> None:
    made = _repeated(("ab", "a", 10), ("cd", "c", 10))
    for found in (ratings(made), maximum_likelihood(made)):
        assert "cannot be ranked" in found.told
        assert "a, b; c, d" in found.told
        assert not found.strengths


def test_nothing_and_too_little_are_told_with_n() -> None:
    assert ratings([]).told
    assert ratings([]).n == 0
    found = ratings(_repeated(("ab", "a", 9)))
    assert found.told == "n = 9: fewer than 10 comparisons say nothing of strengths."
    few = ratings(sheets(np.random.default_rng(0), (70, 70, 70, 70), 6))
    assert "n = 36 comparisons, but of 6 tasks" in few.told


def test_sheets_that_say_the_same_thing_many_times_widen_intervals() -> None:
    alone = _drawn(1, n=30)
    thrice = [Comparison(each.task, each.judge, each.models, each.winner) for each in alone for _ in range(3)]
    apart = [Comparison(str(at), each.judge, each.models, each.winner) for at, each in enumerate(thrice)]
    one, copied, independent = (ratings(made).difference("m0", "m3") for made in (alone, thrice, apart))
    assert independent.high - independent.low < 0.7 * (one.high - one.low)
    # what is said three times over is worth what is said once
    assert copied.high - copied.low > 0.9 * (one.high - one.low)


def _close(one: Ratings, other: Ratings) -> None:
    assert list(one.strengths) == list(other.strengths)
    for pair, difference in one.differences.items():
        there = other.differences[pair]
        assert (difference.low, difference.value, difference.high) == pytest.approx(
            (there.low, there.value, there.high), abs=1e-6
        )


WORDS = st.lists(
    st.tuples(st.sampled_from(["ab", "ac", "bc"]), st.integers(0, 2), st.integers(0, 5)),
    min_size=10,
    max_size=24,
)


def _said(words: list[tuple[str, int, int]]) -> list[Comparison]:
    chain = [("ab", 2, 9), ("bc", 2, 9)]
    return [
        Comparison("kv", f"judge{judge}-{at}", (pair[0], pair[1]), (*pair, TIE)[outcome])
        for at, (pair, outcome, judge) in enumerate([*words, *chain])
    ]


@settings(max_examples=8)
@given(WORDS, st.randoms(use_true_random=False))
def test_the_order_of_comparisons_makes_no_difference(
    words: list[tuple[str, int, int]], chance: object
) -> None:
    made = _said(words)
    mixed = list(made)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert ratings(made) == ratings(mixed)


@settings(max_examples=6)
@given(WORDS)
def test_who_won_and_who_lost_swapped_negates(words: list[tuple[str, int, int]]) -> None:
    made = _said(words)
    swapped = [
        Comparison(each.task, each.judge, each.models,
                   TIE if each.winner == TIE else next(m for m in each.models if m != each.winner))
        for each in made
    ]  # fmt: skip
    one, other = ratings(made), ratings(swapped)
    for pair, difference in one.differences.items():
        there = -other.differences[pair]
        assert (difference.low, difference.value, difference.high) == pytest.approx(
            (there.low, there.value, there.high), abs=1e-6
        )


@settings(max_examples=6)
@given(WORDS)
def test_other_names_change_nothing_but_the_names(words: list[tuple[str, int, int]]) -> None:
    name = {"a": "z", "b": "y", "c": "x", TIE: TIE}
    made = _said(words)
    renamed = [
        Comparison(each.task, each.judge, (name[each.models[1]], name[each.models[0]]), name[each.winner])
        for each in made
    ]
    one, other = ratings(made), ratings(renamed)
    for first, second in one.differences:
        difference, there = one.difference(first, second), other.difference(name[first], name[second])
        assert (difference.low, difference.value, difference.high) == pytest.approx(
            (there.low, there.value, there.high), abs=1e-6
        )
