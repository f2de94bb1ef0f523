from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import FileStamp, load_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk import keypad
from judge_tui.tui.desk.keypad import Keypad
from judge_tui.tui.session import OVERALL, SUMMARY, Session

from .conftest import Opener


def failed(model: str, check: str) -> Outcome:
    return Outcome(model, "kv", check, Verdict.FAIL, "no", 0.1)


@pytest.mark.parametrize(
    ("keys", "score"),
    # a blank is a moment in which the judge looks
    [
        ("8", 8),
        ("85", 85),
        ("100", 100),
        ("10", 10),
        ("85 3", 3),
        ("100 0", 0),
        ("85 31", 31),
        ("8 5", 85),
        ("8   90", 90),
    ],
)
def test_digits_make_a_score(keys: str, score: int) -> None:
    now = 0.0
    pad = Keypad(lambda: now)
    pressed = None
    for key in keys:
        now += 1.0 if key == " " else 0.1
        pressed = pad.press(key) if key != " " else pressed
    assert pressed == score


@pytest.mark.parametrize(("keys", "stands"), [("150", 15), ("999", 99), ("1000", 100), ("8555", 85)])
def test_a_digit_too_many_is_refused_and_the_score_stands(opened: Opener, keys: str, stands: int) -> None:
    session = opened()
    assert not [session.digit(key) for key in keys][-1]
    assert session.card.score("correctness") == stands
    session.undo()
    assert session.card.score("correctness") is None


def test_two_digits_are_one_step_of_undo(opened: Opener) -> None:
    session = opened()
    for digit in "85":
        session.digit(digit)
    assert session.card.score("correctness") == 85
    session.undo()
    assert session.card.score("correctness") is None
    session.redo()
    assert session.card.score("correctness") == 85


def test_a_second_score_is_a_step_of_its_own(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened()
    for digit in "85 70":
        if digit == " ":
            monkeypatch.setattr(keypad, "_LOOK_S", 0.0)
        else:
            session.digit(digit)
    session.take_score()
    assert session.card.score("correctness") == 70
    session.undo()
    assert session.card.score("correctness") == 85


def test_undo_goes_back_over_submissions_in_the_order_of_the_changes(opened: Opener) -> None:
    session = opened()
    session.digit("7")
    session.switch()
    session.digit("9")
    session.undo()
    assert [card.score("correctness") for card in session.cards] == [7, None]
    session.undo()
    assert [card.score("correctness") for card in session.cards] == [None, None]
    assert session.undo() is None


def test_a_step_of_undo_names_its_submission_and_what_it_is_of(opened: Opener) -> None:
    session = opened()
    session.switch()
    for row in session.rows:
        session.set_text("words", index=1, row=row)
    note = new_note("issue", "off by one", file="kv_cache.py", lines=(3, 5))
    session.put_note(1, note)
    session.drop_note(1, note.id)
    steps = [
        "B: Correctness comment",
        "B: Tests comment",
        "B: overall reason",
        "B: summary",
        "B: issue note on kv_cache.py:3–5",
        "B: delete issue note on kv_cache.py:3–5",
    ]
    assert [session.undo() for _ in steps] == steps[::-1]
    assert [session.redo() for _ in steps] == steps


def test_scores_of_two_submissions_never_merge_into_one_step(opened: Opener) -> None:
    session = opened()
    session.digit("7")
    session.switch()
    session.adjust(1)
    session.switch()
    session.adjust(1)
    session.undo()
    assert session.cards[0].score("correctness") == 7
    assert session.cards[1].score("correctness") == 76


def test_every_change_is_on_disk_after_a_flush_and_read_by_the_next_start(opened: Opener) -> None:
    session = opened()
    session.digit("8")
    session.set_text("half a sent", index=0, row=session.rows[0])
    session.put_note(1, new_note("bug", "off by one", file="kv_cache.py", lines=(3, 4)))
    session.flush()
    again = opened()
    assert again.card.score("correctness") == 8
    assert again.card.comment("correctness") == "half a sent"
    assert [note.text for note in again.notes(1)] == ["off by one"]


def test_looking_writes_nothing(opened: Opener) -> None:
    session = opened()
    session.switch()
    session.focus_key("t")
    session.flush()
    assert not any(path.exists() for path in session.paths)


def test_typing_a_comment_is_one_step_of_undo_and_a_second_editing_another(opened: Opener) -> None:
    session = opened()
    for text in ("a", "ab", "abc"):
        session.set_text(text, index=0, row=session.rows[0])
    session.seal()
    session.set_text("abcd", index=0, row=session.rows[0])
    session.undo()
    assert session.text() == "abc"
    session.undo()
    assert session.text() == ""


def test_a_deleted_note_comes_back_by_undo(opened: Opener) -> None:
    session = opened()
    note = new_note("strength", "clear")
    session.put_note(0, note)
    session.drop_note(0, note.id)
    assert session.notes(0) == ()
    session.undo()
    assert session.notes(0) == (note,)


def test_caps_bite_under_live_verdicts_and_are_explained(opened: Opener) -> None:
    session = opened()
    session.seen(failed("alpha", "accuracy"))
    assert session.caps(0, "correctness") == ("At most 65: accuracy fails. A wrong answer is wrong.",)
    session.digit("8")
    session.digit("5")
    assert "at most 65" in session.conflicts(0)["correctness"]
    assert session.conflicts(1) == {}


def test_a_cap_of_a_check_that_measured_nothing_says_what_the_submission_did(opened: Opener) -> None:
    session = opened()
    raised = "the submission raised SyntaxError: invalid syntax at kv.py:3"
    session.seen(replace(failed("alpha", "accuracy"), summary=raised))
    assert session.caps(0, "correctness") == (
        "At most 65: accuracy fails. The submission raised SyntaxError: invalid syntax at kv.py:3.",
    )


def test_an_overall_beside_the_mean_asks_for_a_reason(opened: Opener) -> None:
    session = opened()
    for digit in "80":
        session.digit(digit)
    session.focus_row(session.rows.index(OVERALL))
    for digit in "90":
        session.digit(digit)
    assert OVERALL in session.conflicts(0)
    session.set_text("two bugs weigh more", index=0, row=OVERALL)
    assert OVERALL not in session.conflicts(0)


def test_next_unscored_walks_over_all_submissions(opened: Opener) -> None:
    session = opened()
    seen = []
    session.digit("8")
    while session.next_unscored():
        seen.append((session.scored, session.row))
        session.digit("9")
    assert seen == [(0, 1), (1, 0), (1, 1)]


def test_the_summary_takes_no_score(opened: Opener) -> None:
    session = opened()
    session.focus_row(session.rows.index(SUMMARY))
    session.digit("8")
    session.adjust(1)
    session.clear_score()
    assert session.card.scores == {}


def test_verdicts_are_kept_as_seen_when_scored(opened: Opener) -> None:
    session = opened()
    session.seen(failed("alpha", "accuracy"))
    session.digit("5")
    session.flush()
    card = load_scorecard(session.paths[0])
    assert [(seen.check, seen.verdict) for seen in card.checks] == [("accuracy", "fail")]
    assert card.submission == session.submissions[0].digest


def test_unknown_keys_of_a_card_survive_scoring(opened: Opener, workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    card, _ = workspace.scorecard("kv", "alpha", "anna")
    save_scorecard(path, card, None)
    path.write_text('mood = "sunny"\n' + path.read_text())
    session = opened()
    session.digit("8")
    session.flush()
    assert 'mood = "sunny"' in path.read_text()
    assert FileStamp.at(path) is not None


def test_models_are_called_as_the_workspace_calls_them(workspace: Workspace) -> None:
    (workspace.root / "judge-tui.toml").write_text('[models.alpha]\ntitle = "Alpha 2.1"\n')
    found = Workspace.find(explicit=workspace.root)
    session = Session(found, [found.submission(model, "kv") for model in ("alpha", "beta")], "anna")
    assert session.titles == ("Alpha 2.1", "Beta")
    session.close()


def test_what_comes_at_once_behind_a_decimal_point_is_no_score() -> None:
    now = [0.0]
    pad = Keypad(lambda: now[0])
    assert not pad.point()
    assert pad.press("8") == 8
    assert pad.point()
    assert pad.press("5") is None
    # a moment later it is another score
    now[0] = 1.0
    assert not pad.point()
    assert pad.press("9") == 9
    now[0] = 1.8
    # and the key means what it means elsewhere
    assert not pad.point()
