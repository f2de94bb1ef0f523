"""Submissions that try to be judged better than they are get the verdict of an honest reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.specimens import judged, specimens, unexpected
from judge_tui.checks.tasks.backwards import TASK
from judge_tui.checks.verdict import Verdict

SPECIMENS = {each.name: each for each in specimens(Path(__file__).parent / "deceit", TASK)}


@pytest.mark.parametrize("name", SPECIMENS)
def test_deceit_changes_no_verdict(name: str) -> None:
    outcomes = judged(SPECIMENS[name], TASK, seed=11)
    verdicts = {check: outcome.verdict for check, outcome in outcomes.items()}
    assert not unexpected(SPECIMENS[name], verdicts), outcomes
    text = " ".join(f"{o.summary} {e.output}" for o in outcomes.values() for e in o.evidence)
    assert "\x1b" not in " ".join(outcome.summary for outcome in outcomes.values()), text


def test_a_stopped_clock_stops_no_measurement() -> None:
    outcome = judged(SPECIMENS["stopped_clock"], TASK, seed=11, checks=["gradient_cost"])["gradient_cost"]
    assert outcome.verdict is Verdict.PASS
    assert all(e.measured > 0 for e in outcome.evidence if e.unit == "s")  # type: ignore[operator]
