"""Two versions of a card or a matchup in one: all that either side changed, and a question where both did."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.judging.card import Scorecard
from judge_tui.judging.matchup import Criterion, Matchup
from judge_tui.judging.merged_card import card_clash, merged_cards
from judge_tui.judging.merged_matchup import matchup_clash, merged_matchups
from judge_tui.judging.merging import Key
from judge_tui.judging.note import Note, new_note
from judge_tui.judging.rubric import default_rubric

RUBRIC = default_rubric("kv")
NOTE = Note("bug", "off by one", file="a.py", lines=(3, 3), quote="x", id="n")
BASE = Scorecard("kv", "glm5", "anna").with_score("correctness", 50).with_note(NOTE)


def test_what_either_side_changed_is_kept() -> None:
    ours = BASE.with_score("correctness", 80).with_note(new_note("strength", "ours")).with_summary("so")
    theirs = (
        BASE.with_comment("correctness", "why").with_score("tests", 0).with_note(new_note("bug", "theirs"))
    )
    found = merged_cards(BASE, ours, replace(theirs, grade="B", extra={"mood": "good"}))
    card = found.value
    assert found.clashes == ()
    assert (card.score("correctness"), card.comment("correctness"), card.score("tests")) == (80, "why", 0)
    assert sorted(note.text for note in card.notes) == ["off by one", "ours", "theirs"]
    assert (card.summary, card.grade, card.extra) == ("so", "B", {"mood": "good"})


def test_what_one_side_took_away_is_gone_and_what_both_say_is_no_clash() -> None:
    ours = BASE.without_note("n").with_score("tests", 70)
    theirs = BASE.with_score("tests", 70).with_score("correctness", None)
    found = merged_cards(BASE, ours, theirs)
    assert (found.clashes, found.value.notes) == ((), ())
    assert (found.value.score("tests"), found.value.score("correctness")) == (70, None)


SAYS = BASE.with_note(replace(NOTE, text="off by two"))
GOES = BASE.with_note(replace(NOTE, lines=(9, 9), quote="y"))


def test_a_note_that_is_worded_here_and_placed_there_is_both() -> None:
    for ours, theirs in ((SAYS, GOES), (GOES, SAYS)):
        found = merged_cards(BASE, ours, theirs)
        assert found.clashes == ()
        [note] = found.value.notes
        assert (note.text, note.lines, note.quote) == ("off by two", (9, 9), "y")


@pytest.mark.parametrize(
    ("ours", "theirs", "key", "told"),
    [
        (BASE.with_score("correctness", 0), BASE.with_score("correctness", 90),
         ("score", "correctness"), "Correctness: 0 here, 90 there"),
        (BASE.with_comment("tests", "a"), BASE.with_comment("tests", "b"),
         ("comment", "tests"), "comment on tests: differs"),
        (BASE.with_overall(0), BASE.with_overall(70), ("overall",), "overall: 0 here, 70 there"),
        (SAYS, BASE.without_note("n"), ("note", "n"), "note on a.py:3: only here"),
        (BASE.without_note("n"), SAYS, ("note", "n"), "note on a.py:3: only there"),
        (GOES, BASE.with_note(replace(NOTE, lines=(5, 6))), ("place", "n"),
         "place of the note “off by one”: a.py:9 here, a.py:5–6 there"),
    ],
    ids=["score", "comment", "overall", "deleted there", "deleted here", "place"],
)  # fmt: skip
def test_what_both_changed_is_asked_about_and_either_answer_is_taken(
    ours: Scorecard, theirs: Scorecard, key: Key, told: str
) -> None:
    found = merged_cards(BASE, ours, theirs)
    assert found.clashes == (key,)
    assert str(card_clash(key, ours, theirs, RUBRIC)) == told
    for side, wanted in (("ours", ours), ("theirs", theirs)):
        chosen = merged_cards(BASE, ours, theirs, {key: side}).value  # type: ignore[dict-item]
        assert (chosen.dimensions, chosen.overall, chosen.notes) == (
            wanted.dimensions, wanted.overall, wanted.notes,
        )  # fmt: skip


def test_where_nobody_knows_what_both_began_with_nothing_that_one_of_them_says_is_lost() -> None:
    blank = Scorecard("kv", "glm5", "anna")
    ours = blank.with_score("correctness", 9).with_note(NOTE)
    theirs = blank.with_score("correctness", 75).with_score("tests", 50).with_note(new_note("bug", "theirs"))
    found = merged_cards(None, ours, theirs)
    assert found.clashes == (("score", "correctness"),)
    assert (found.value.score("tests"), len(found.value.notes)) == (50, 2)


DUEL = Matchup(("a", "b"), "a", 5, criteria=(Criterion("Speed", edge="a"), Criterion("Tests")))


def test_matchups_keep_what_either_side_changed_line_by_line() -> None:
    ours = replace(DUEL, criteria=(Criterion("Speed", edge="b"), Criterion("Tests"), Criterion("Docs")))
    theirs = replace(
        DUEL, key_differentiator="speed", criteria=(*DUEL.criteria, Criterion("Memory")), margin=7
    )
    found = merged_matchups(DUEL, ours, theirs)
    assert found.clashes == ()
    assert (found.value.key_differentiator, found.value.winner, found.value.margin) == ("speed", "a", 7)
    assert [(one.name, one.edge) for one in found.value.criteria] == [
        ("Speed", "b"), ("Tests", None), ("Docs", None), ("Memory", None),
    ]  # fmt: skip


def test_of_matchups_a_winner_goes_with_its_margin_and_an_order_stays() -> None:
    ours = replace(DUEL, winner="b", margin=None, criteria=DUEL.criteria[::-1])
    found = merged_matchups(DUEL, ours, replace(DUEL, margin=9))
    assert found.clashes == (("winner",),)
    assert str(matchup_clash(("winner",), ours, DUEL, str)) == "winner: b here, a there"
    found = merged_matchups(DUEL, replace(ours, winner="a", margin=5), replace(DUEL, margin=9))
    assert [one.name for one in found.value.criteria] == ["Tests", "Speed"]
    assert found.value.margin == 9
