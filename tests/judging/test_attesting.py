"""Which files the scores of a card refer to, as plain values."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.judging.attesting import attested
from judge_tui.judging.card import CheckSeen, Scorecard
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.workspace import Workspace

CARD = Scorecard("kv", "glm5", "anna", submission="old").with_score("correctness", 80)
SEEN = (CheckSeen("accuracy", "fail"),)


@pytest.fixture
def rubric(workspace: Workspace) -> Rubric:
    return workspace.rubric("kv")


@pytest.mark.parametrize(
    ("after", "files"),
    [
        (CARD.with_score("correctness", 81), "new"),
        (CARD.with_score("correctness", None), "new"),
        (CARD.with_score("completeness", 0), "new"),
        (CARD.with_overall(80), "new"),
        (CARD.with_grade("B"), "new"),
        (CARD.with_overall(None, "since"), "old"),
        (CARD.with_comment("completeness", "half"), "old"),
        (CARD.with_summary("half"), "old"),
    ],
)
def test_a_score_total_or_grade_is_of_the_files_here_and_words_are_not(
    rubric: Rubric, after: Scorecard, files: str
) -> None:
    found = attested(CARD, after, rubric, "new", SEEN)
    assert found.submission == files
    assert (found.checks, found.rubric.digest) == ((SEEN, rubric.digest) if files == "new" else ((), ""))


def test_scores_of_files_that_are_gone_stay_scores_of_them(rubric: Rubric) -> None:
    assert attested(CARD, CARD.with_grade("B"), rubric, None, SEEN).submission == "old"


def test_words_leave_the_verdicts_that_the_scores_were_given_by_and_add_those_that_came_late(
    rubric: Rubric,
) -> None:
    before = CARD.with_checks(SEEN)
    again, late = replace(SEEN[0], summary="said with another seed"), CheckSeen("late", "pass", "came late")
    words = attested(before, before.with_summary("half"), rubric, "old", (again, late))
    assert words.checks == tuple(sorted((*SEEN, late), key=lambda seen: seen.check))
    scored = attested(before, before.with_score("correctness", 81), rubric, "old", (again, late))
    assert scored.checks == tuple(sorted((again, late), key=lambda seen: seen.check))


def test_verdicts_on_the_same_files_come_to_a_card_that_has_none(rubric: Rubric) -> None:
    assert attested(CARD, CARD.with_summary("half"), rubric, "old", SEEN).checks == SEEN
    before = CARD.with_checks(SEEN)
    assert attested(before, before.with_summary("half"), rubric, "old").checks == SEEN
