"""Mutants whose mistake a sentence names, and not by its symptom alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Verdict

HERE = Path(__file__).parent
TASK = load_task("kv")
#: Mutant, check, and what its sentence says.
NAMED = (
    ("first_scale_kept", "quantized", "later tokens are cut off at what the first"),
    ("a_page_for_every_token", "paged", "long sequences fill 25% of the slots in their blocks"),
    ("later_layers_stand_further", "incremental_equals_full", "but not with one layer"),
    ("padding_laps_a_ring", "capacity", "prompts of 1, 8, 9, 5, 12, 3 tokens, then 2 steps past a window"),
    ("hidden_by_minus_a_billion", "incremental_equals_full", "below finite numbers that stand for −inf"),
)


def test_a_model_that_makes_much_of_a_last_bit_is_right() -> None:
    """Under this seed one of its steps is 1.3e-5 off, and a last bit of its weights does as much."""
    (twin,) = (each for each in specimens(HERE, TASK) if not each.wrong and each.name == "small_gpt")
    outcome = judged(twin, TASK, seed=7, checks=["incremental_equals_full"])["incremental_equals_full"]
    assert outcome.verdict == Verdict.PASS, outcome.summary


@pytest.mark.parametrize(("name", "check", "said"), NAMED)
def test_a_sentence_names_the_mistake(name: str, check: str, said: str) -> None:
    (mutant,) = (each for each in specimens(HERE, TASK) if each.wrong and each.name == name)
    assert said in judged(mutant, TASK, seed=4, checks=[check])[check].summary
