from __future__ import annotations

import pytest

from judge_tui.checks.errors import UsageError
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.card import (
    CheckSeen,
    Scorecard,
    cap_conflicts,
    computed_overall,
    grade_conflict,
    is_complete,
    overall_conflict,
    points,
)
from judge_tui.judging.note import new_note
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.workspace import Workspace


@pytest.fixture
def rubric(workspace: Workspace) -> Rubric:
    return workspace.rubric("kv")


@pytest.fixture
def card() -> Scorecard:
    return Scorecard(task="kv", model="glm5", judge="anna")


@pytest.mark.parametrize("score", [-1, 101, True, 85.0, "85"])
def test_a_score_is_a_whole_number_of_0_to_100(card: Scorecard, score: object) -> None:
    with pytest.raises(UsageError):
        card.with_score("correctness", score)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        card.with_overall(score)  # type: ignore[arg-type]


def test_the_weighted_mean_is_over_what_is_scored_and_none_over_nothing(
    card: Scorecard, rubric: Rubric
) -> None:
    assert computed_overall(card, rubric) is None
    assert computed_overall(card.with_score("correctness", 80), rubric) == 80
    both = card.with_score("correctness", 80).with_score("code_quality", 90)
    assert rubric.weighted_mean(both.scores) == 82.5
    assert computed_overall(both, rubric) == 83
    assert computed_overall(card.with_score("correctness", 0), rubric) == 0


def test_a_card_counts_in_points_only_when_it_is_complete_or_totalled(
    card: Scorecard, rubric: Rubric
) -> None:
    half = card.with_score("correctness", 80)
    assert points(half, rubric) is None
    assert not is_complete(half, rubric)
    assert points(half.with_overall(70), rubric) == 70
    assert points(half.with_score("code_quality", 80), rubric) == 80


def test_a_total_beside_the_mean_asks_for_a_reason(card: Scorecard, rubric: Rubric) -> None:
    scored = card.with_score("correctness", 80)
    assert overall_conflict(scored, rubric) is None
    assert overall_conflict(scored.with_overall(80), rubric) is None
    assert "80" in (overall_conflict(scored.with_overall(70), rubric) or "")
    assert overall_conflict(scored.with_overall(70, "the demo crashes"), rubric) is None


def test_a_letter_beside_the_points_asks_for_a_reason(card: Scorecard, rubric: Rubric) -> None:
    scored = card.with_overall(95)
    assert grade_conflict(scored.with_grade("A"), rubric) is None
    assert "earn A" in (grade_conflict(scored.with_grade("B"), rubric) or "")


def test_a_score_above_a_cap_that_bites_is_explained(card: Scorecard, rubric: Rubric) -> None:
    seen = card.with_checks([CheckSeen("incremental_equals_full", Verdict.FAIL)])
    assert cap_conflicts(seen.with_score("correctness", 60), rubric) == {}
    told = cap_conflicts(seen.with_score("correctness", 85), rubric)["correctness"]
    assert "85" in told
    assert "at most 60" in told
    assert "answers wrongly" in told
    passed = card.with_checks([CheckSeen("incremental_equals_full", Verdict.PASS)])
    assert cap_conflicts(passed.with_score("correctness", 85), rubric) == {}


def test_taking_back_everything_on_a_dimension_leaves_no_trace(card: Scorecard) -> None:
    assert card.with_score("a", 5).with_score("a", None) == card
    assert card.with_comment("a", "x").with_comment("a", "") == card


def test_a_note_is_replaced_by_its_id_and_removed_by_it(card: Scorecard) -> None:
    first, second = new_note("bug", "one"), new_note("strength", "two")
    both = card.with_note(first).with_note(second)
    from msgspec.structs import replace

    edited = both.with_note(replace(first, text="changed"))
    assert [note.text for note in edited.notes] == ["changed", "two"]
    assert edited.without_note(first.id).notes == (second,)
