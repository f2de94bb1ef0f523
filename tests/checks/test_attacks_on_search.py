"""Submissions written with the checks' source in hand, to pass while wrong; right ones in odd style."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.specimens import judged, specimens, unexpected
from judge_tui.checks.task import load_task

ATTACKS = Path(__file__).parent / "attacks"
TASKS = ("beam_search", "dflash_verify", "ternary_training")
SPECIMENS = {
    f"{task}/{'mutants' if each.wrong else 'twins'}/{each.name}": (task, each)
    for task in TASKS
    if (ATTACKS / task).is_dir()
    for each in specimens(ATTACKS / task, load_task(task))
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", SPECIMENS)
def test_who_knows_the_checks_passes_by_being_right_alone(name: str) -> None:
    task, specimen = SPECIMENS[name]
    outcomes = judged(specimen, load_task(task), seed=11)
    wrong = unexpected(specimen, {check: outcome.verdict for check, outcome in outcomes.items()})
    assert not wrong, {check: (outcomes[check].verdict, outcomes[check].summary) for check in wrong}
