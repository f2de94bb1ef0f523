"""Submissions that forge, hide or buy the figures that a verdict leans on, beside right ones in odd style."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.specimens import judged, specimens, unexpected
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Verdict

ATTACKS = Path(__file__).parent / "attacks"
TASKS = ("flash_attention", "flash_attention_bwd", "backwards", "kv")
SPECIMENS = {
    f"{task}/{'mutants' if each.wrong else 'twins'}/{each.name}": (task, each)
    for task in TASKS
    for each in specimens(ATTACKS / task, load_task(task))
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", SPECIMENS)
def test_a_forged_figure_buys_no_verdict(name: str) -> None:
    task, specimen = SPECIMENS[name]
    outcomes = judged(specimen, load_task(task), seed=11)
    wrong = unexpected(specimen, {check: outcome.verdict for check, outcome in outcomes.items()})
    assert not wrong, {check: (outcomes[check].verdict, outcomes[check].summary) for check in wrong}
    if specimen.wrong:
        assert any(outcome.verdict in (Verdict.FAIL, Verdict.WARN) for outcome in outcomes.values())
