"""What two versions say differently, for a judge who must choose between them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.judging.card import CellVerdict, Scorecard
from judge_tui.judging.matchup import Criterion, Matchup
from judge_tui.judging.note import new_note
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.versions import Differing, card_differences, matchup_differences
from judge_tui.judging.workspace import Workspace


@pytest.fixture
def rubric(workspace: Workspace) -> Rubric:
    return workspace.rubric("kv")


CARD = Scorecard(task="kv", model="glm5", judge="anna")


def test_scores_texts_and_notes_that_differ_are_named(rubric: Rubric) -> None:
    ours = CARD.with_score("correctness", 85).with_comment("correctness", "mine").with_overall(80)
    theirs = CARD.with_score("correctness", 50).with_comment("correctness", "theirs").with_summary("well")
    note = new_note("bug", "broken")
    ours = replace(ours.with_note(note), verdict=CellVerdict("bug", note.id))
    theirs = replace(theirs, verdict=CellVerdict("clean"))
    title = rubric.dimension("correctness").title
    assert list(map(str, card_differences(ours, theirs, rubric))) == [
        f"{title}: 85 here, 50 there",
        f"comment on {title}: differs",
        "overall: 80 here, – there",
        f"as a whole: bug ({note.id}) here, clean there",
        "summary: only there",
        "note on the whole submission: only here",
    ]
    assert list(card_differences(ours, ours, rubric)) == []


def test_a_score_of_a_dimension_that_the_rubric_has_no_more_is_named_by_its_id(rubric: Rubric) -> None:
    [found] = card_differences(CARD.with_score("gone", 7), CARD, rubric)
    assert str(found) == "gone: 7 here, – there"


def test_texts_that_differ_are_told_whole(rubric: Rubric) -> None:
    ours = CARD.with_comment("correctness", "mine").with_note(new_note("bug", "broken"))
    theirs = CARD.with_comment("correctness", "theirs")
    title = rubric.dimension("correctness").title
    assert list(card_differences(ours, theirs, rubric)) == [
        Differing(f"comment on {title}", "mine", "theirs", prose=True),
        Differing("note on the whole submission", "minor bug: broken", "", prose=True),
    ]
    size, other = Criterion("Size", {"a": "1"}, "a", note="small"), Criterion("Size", {"a": "3"}, "a")
    found = matchup_differences(Matchup(("a", "b"), criteria=(size,)), Matchup(("a", "b"), criteria=(other,)))
    assert list(found) == [Differing("criterion Size", "1 · small", "3", prose=True)]


def test_what_two_matchups_say_differently() -> None:
    size, speed = Criterion("Size", {"a": "1"}, "a"), Criterion("Speed", {"a": "2"}, "b")
    ours = Matchup(("a", "b"), "a", 5, criteria=(size,))
    theirs = Matchup(("a", "b"), "b", 5, "It is right.", criteria=(Criterion("Size", {"a": "3"}, "a"), speed))
    assert list(map(str, matchup_differences(ours, theirs))) == [
        "winner: a here, b there",
        "key differentiator: only there",
        "criterion Size: differs",
        "criterion Speed: only there",
    ]
    assert list(matchup_differences(theirs, theirs)) == []
