from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from judge_tui.checks.judged import required, unjudged
from judge_tui.checks.task import load_task, task_names
from judge_tui.checks.verdict import Evidence, Outcome, Verdict


def outcomes(**verdicts: Verdict) -> list[Outcome]:
    return [Outcome("model", "backwards", check, verdict, "", 0.1) for check, verdict in verdicts.items()]


@pytest.mark.parametrize("name", task_names())
def test_what_is_required_is_judged_by_checks_that_every_submission_is_held_to(name: str) -> None:
    task = load_task(name)
    answers = required(task)
    assert answers
    for checks in answers.values():
        ids = [check.partition(":")[0] for check in checks]
        assert set(ids) <= task.by_id.keys()
        assert not all(task.by_id[check].optional for check in ids)


def test_a_role_is_judged_by_any_check_of_its_answers_that_came_to_a_verdict() -> None:
    task = load_task("backwards")
    skip, unbound = Verdict.SKIP, Verdict.UNBOUND
    assert unjudged(task, outcomes(forward_accuracy=Verdict.FAIL, gradients=unbound)) == ("backward",)
    assert unjudged(task, outcomes(forward_accuracy=skip, degenerate=Verdict.WARN, gradients=skip)) == ()
    assert unjudged(task, outcomes(cache_minimality=skip, size=Verdict.PASS)) == ()
    assert unjudged(task, outcomes(forward_accuracy=unbound, gradients=unbound)) == ("forward", "backward")


def test_a_task_that_says_nothing_is_judged_by_its_own_required_checks() -> None:
    task = replace(load_task("kv"), answers={})
    (checks,) = required(task).values()
    assert "incremental_equals_full" in checks
    assert not {"sharing", "loads"} & set(checks)


def test_what_a_check_judges_beside_its_main_subject_is_seen_by_its_evidence() -> None:
    task = load_task("kv")
    codes = Evidence("Int8Cache: off half a step", 0.9, limit=1.0, ok=True)
    attended = Evidence("Int8Cache: its attention against attention over codes", 1e-7, limit=1e-5, ok=True)
    told = Evidence("attention over its dequantized keys and values", 0.1)
    (unbound,) = outcomes(incremental_equals_full=Verdict.UNBOUND)
    (quantized,) = outcomes(quantized=Verdict.PASS)
    for evidence, missing in (
        ((codes,), ("attention over the cache",)),
        ((codes, told), ("attention over the cache",)),
        ((codes, attended), ()),
    ):
        found = [unbound, msgspec.structs.replace(quantized, evidence=evidence)]
        assert unjudged(task, found) == missing
