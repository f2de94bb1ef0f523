"""What is wrong with a score is said in words that lead to the cause, and to no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.task import load_task
from judge_tui.checks.tasks.beam_search.disagreement import MISTAKEN, STEPS, by_mistake
from judge_tui.checks.tasks.beam_search.lengths import Taken, as_if, whole_length
from judge_tui.checks.tasks.beam_search.oracle import beam_search

TASK = load_task("beam_search")
SPECIMENS = {each.name: each for each in specimens(Path(__file__).parent, TASK)}
CAUSES = ("counted", "one length for all", "one more", "one less", "twice", "without a penalty")
#: Length of a beam, of its prompt, and most new tokens, of three searches.
BEAMS = [[(1, 2, 3), (3, 2, 3)], [(1, 4, 2), (2, 4, 2)], [(2, 1, 5), (5, 1, 5), (4, 1, 5)]]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("prompt_counted", "counted"),
        ("length_of_the_search", "one length for all"),
        ("penalty_off_by_one", "one more"),
        ("penalty_of_the_parent", "one less"),
        ("penalty_doubled", "twice"),
        ("integer_penalty", "without a penalty"),
        ("penalty_square_root", None),
    ],
)
def test_a_score_of_another_length_names_its_cause_alone(name: str, cause: str | None) -> None:
    wanted = replace(SPECIMENS[name], expected={"eos_retention": frozenset()})
    summary = judged(wanted, TASK, seed=6)["eos_retention"].summary
    assert "instead of" in summary
    assert [each for each in CAUSES if each in summary] == ([cause] if cause else [])
    assert ("as if of length" in summary) == (cause is not None)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("start_rows_multiplied_away", "has a score of NaN instead of 0, and is returned twice"),
        ("shares_of_a_sum_of_zero", "has a score of NaN instead of 0"),
        ("sum_of_zero_is_none", "has -inf instead of -"),
    ],
)
def test_a_certain_first_token_is_named_and_a_score_that_is_no_number_before_all(
    name: str, told: str
) -> None:
    wanted = replace(SPECIMENS[name], expected={"edge_cases": frozenset()})
    summary = judged(wanted, TASK, seed=6)["edge_cases"].summary
    assert "borders: a first token that is certain: K = 2: " in summary
    assert told in summary


def taken(length: Callable[[int, int, int], int | None]) -> list[Taken]:
    return [
        Taken(search, own, before, steps, length(own, before, steps))
        for search, beams in enumerate(BEAMS)
        for own, before, steps in beams
    ]


@pytest.mark.parametrize(
    ("length", "told"),
    [
        (lambda own, before, _: own + before, ", as if of length 3 and not 1: the prompt's 2 counted"),
        (
            lambda _own, _before, steps: steps,
            ", as if of length 3 and not 1: one length for all beams of a search, not each its own",
        ),
        (lambda own, _before, _steps: own + 1, ", as if of length 2 and not 1: one more than each has"),
        (lambda own, _before, _steps: own + 2, ", as if of length 3 and not 1"),
        (lambda own, before, _steps: own + before if own < 5 else 5, ", as if of length 3 and not 1"),
        (lambda own, _before, steps: 3 if own == 1 else own, ", as if of length 3 and not 1"),
        (lambda own, _before, steps: None if own == 4 else 3, ""),
        (lambda own, _before, _steps: own, ""),
    ],
)
def test_a_cause_explains_every_score(length: Callable[[int, int, int], int | None], told: str) -> None:
    beams = taken(length)
    assert as_if(beams[0], beams) == told


def test_where_two_causes_explain_the_same_none_is_named() -> None:
    one_prompt = [Taken(0, 1, 1, 4, 2), Taken(1, 2, 1, 4, 3)]
    assert as_if(one_prompt[0], one_prompt) == ", as if of length 2 and not 1"
    one_length = [Taken(0, 2, 1, 4, 3), Taken(1, 2, 3, 5, 5)]
    assert as_if(one_length[0], one_length) == ""


@pytest.mark.parametrize(
    ("score", "alpha", "length"),
    [
        (-3.0 / 4**0.6, 0.6, 4),
        (-3.0 / 2.5**0.6, 0.6, None),
        (-3.0, 0.6, 1),
        (0.0, 0.6, None),
        (3.0, 0.6, None),
        (float("nan"), 0.6, None),
        (-1e-300, 0.3, None),
        (-5e-324, 0.3, None),
        (-1e300, 0.3, None),
    ],
)
def test_a_score_says_of_what_length_it_would_be_right(
    score: float, alpha: float, length: int | None
) -> None:
    assert whole_length(score, -3.0, alpha) == length


def test_draws_for_one_mistake_show_no_other_one() -> None:
    for mistake in MISTAKEN:
        draws = by_mistake(2, mistake)
        assert len(draws) == 4
        for other in {*MISTAKEN} - {mistake}:
            sets = [
                beam_search(
                    draw.script.rows,
                    draw.prompt,
                    draw.width,
                    STEPS,
                    draw.alpha,
                    draw.script.eos,
                    counted=MISTAKEN[other](len(draw.prompt)),
                ).sequences
                for draw, _wrong in draws
            ]
            assert sets != [wrong.sequences for _draw, wrong in draws], (mistake, other)
