"""A model that is asked of another beam's history is told by the scores, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.task import load_task
from judge_tui.checks.tasks.beam_search.histories import foreign_in
from judge_tui.checks.tasks.beam_search.oracle import path_sum
from judge_tui.checks.tasks.beam_search.reading import Beam
from judge_tui.checks.tasks.beam_search.scripts import Tokens, hashed
from judge_tui.checks.tasks.beam_search.searching import Answer

TASK = load_task("beam_search")
SPECIMENS = {each.name: each for each in specimens(Path(__file__).parent, TASK)}
SCRIPT = hashed(np.random.default_rng(1), 8, 7)
PROMPT = (3, 4)


def answered(*beams: tuple[Tokens, float | None]) -> Answer:
    read = [Beam(tokens, score) for tokens, score in beams]
    return Answer(SCRIPT, (PROMPT,), 3, 0.0, [read], 3, {})


def behind(*histories: Tokens, tokens: Tokens) -> float:
    """A sum whose tokens are each scored behind a history of their own."""
    asked = zip(histories, tokens, strict=True)
    return sum(float(SCRIPT.rows.row([*PROMPT, *history])[token]) for history, token in asked)


def test_the_token_and_the_history_behind_which_it_is_scored_are_told() -> None:
    score = behind((), (1,), (5, 2), tokens=(1, 2, 6))
    [found] = foreign_in(answered(((1, 2, 6), score)))
    assert found is not None
    assert (found.place, found.after) == (2, (5, 2))
    assert "6 behind [1 2] is scored by the model's answer to [5 2]" in found.told(7)


def test_of_two_foreign_histories_the_first_is_told() -> None:
    score = behind((), (0,), (5, 2), tokens=(1, 2, 6))
    [found] = foreign_in(answered(((1, 2, 6), score)))
    assert found is not None
    assert (found.place, found.after) == (1, (0,))


def test_right_scores_say_nothing_and_others_that_no_history_explains() -> None:
    right = path_sum(SCRIPT.rows, PROMPT, (1, 2, 6))
    assert not list(foreign_in(answered(((1, 2, 6), right))))
    of_another = path_sum(SCRIPT.rows, PROMPT, (5, 2, 6))
    without_prompt = path_sum(SCRIPT.rows, (), (1, 2, 6))
    wrong = [of_another, without_prompt, right - 0.5, right / 3, float("nan"), None]
    assert list(foreign_in(answered(*(((1, 2, 6), score) for score in wrong)))) == [None] * len(wrong)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cache_of_the_step_before", True),
        ("inputs_stay_in_their_slots", True),
        ("ids_without_their_parents", True),
        ("parent_rounded", False),
        ("last_token_only", False),
        ("merged_by_last_token", False),
    ],
)
def test_the_cause_is_named_before_what_is_missed(name: str, told: bool) -> None:
    wanted = replace(SPECIMENS[name], expected={"exhaustive_optimum": frozenset()})
    summary = judged(wanted, TASK, seed=5)["exhaustive_optimum"].summary
    assert summary.startswith("the model is not asked of the beam that goes on") == told
    assert ("another beam's history" in summary) == told
