"""What is wrong with a score is said in words that lead to the cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.task import load_task
from judge_tui.checks.tasks.beam_search.searching import _as_if

TASK = load_task("beam_search")


def test_a_prompt_that_is_counted_is_told() -> None:
    (one,) = [each for each in specimens(Path(__file__).parent, TASK) if each.name == "prompt_counted"]
    wanted = replace(one, expected={"eos_retention": frozenset()})
    summary = judged(wanted, TASK, seed=5)["eos_retention"].summary
    assert "counted" in summary
    assert "as if of length" in summary


@pytest.mark.parametrize(
    ("score", "length", "alpha", "told"),
    [
        (-3.0 / 4**0.6, 1, 0.6, ", as if of length 4 and not 1: the prompt's 3 counted"),
        (-3.0 / 2**0.6, 1, 0.6, ", as if of length 2 and not 1"),
        (-3.0 / 2.5**0.6, 1, 0.6, ""),
        (-3.0, 1, 0.6, ""),
        (-1.0, 1, 0.0, ""),
        (0.0, 1, 0.6, ""),
        (3.0, 1, 0.6, ""),
        (float("nan"), 1, 0.6, ""),
    ],
)
def test_a_score_says_of_what_length_it_would_be_right(
    score: float, length: int, alpha: float, told: str
) -> None:
    assert _as_if(score, -3.0, length, alpha, before=3) == told
