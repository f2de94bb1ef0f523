"""Which files the scores of a card refer to, once it was changed on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.card import CheckSeen, RubricSeen, Scorecard
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import FileStamp, load_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.session import OVERALL, SUMMARY, Session

from .conftest import Opener, keep


def published(workspace: Workspace, model: str) -> Path:
    """A card with scores of files that are not here."""
    path = workspace.scorecard_path("kv", model, "anna")
    save_scorecard(path, Scorecard("kv", model, "anna").with_score("correctness", 91), None)
    return path


def of_files(path: Path) -> str | None:
    return load_scorecard(path).submission


def test_a_note_leaves_published_scores_what_they_are(opened: Opener, workspace: Workspace) -> None:
    path = published(workspace, "alpha")
    session = opened()
    session.seen(Outcome("alpha", "kv", "accuracy", Verdict.FAIL, "no", 0.1))
    session.put_note(0, new_note("bug", "no"))
    session.flush()
    card = load_scorecard(path)
    assert (len(card.notes), card.submission, card.checks) == (1, None, ())
    session.undo()
    session.flush()
    assert of_files(path) is None


def test_published_scores_stay_published_when_one_is_changed_as_in_a_script(
    opened: Opener, workspace: Workspace
) -> None:
    path = published(workspace, "alpha")
    session = opened()
    session.digit("8")
    session.take_score()
    session.flush()
    assert (load_scorecard(path).score("correctness"), of_files(path)) == (8, None)


def test_the_other_card_of_a_blind_comparison_stays_published(workspace: Workspace) -> None:
    paths = [published(workspace, model) for model in ("alpha", "beta")]
    session = Session(
        workspace, [workspace.submission(m, "kv") for m in ("alpha", "beta")], "anna", blind=True
    )
    session.put_note(0, new_note("bug", "no"))
    session.close()
    assert [of_files(path) for path in paths] == [None, None]
    assert all(load_scorecard(path).sealed for path in paths)


def test_a_card_that_is_begun_here_is_of_the_files_here(opened: Opener) -> None:
    session = opened()
    session.put_note(0, new_note("bug", "no"))
    session.undo()
    session.flush()
    assert of_files(session.paths[0]) == session.submissions[0].digest


@pytest.mark.parametrize("mine", [True, False])
def test_published_scores_that_another_window_wrote_stay_published(
    opened: Opener, workspace: Workspace, mine: bool
) -> None:
    session = opened()
    path = published(workspace, "alpha")
    session.put_note(0, new_note("bug", "no"))
    session.flush()
    (session.overwrite if mine else session.reload)(0)
    session.flush()
    if mine:
        session.undo()
        session.flush()
        assert load_scorecard(path).score("correctness") == 91
    assert of_files(path) is None


OLD = "sha256:old"
SEEN = CheckSeen("accuracy", "pass")


def of_old_files(workspace: Workspace) -> Path:
    """A scored card whose files have changed since."""
    path = workspace.scorecard_path("kv", "alpha", "anna")
    card = Scorecard("kv", "alpha", "anna", submission=OLD, checks=(SEEN,))
    save_scorecard(path, card.with_score("correctness", 60).with_score("tests", 70), None)
    return path


def test_changed_words_do_not_turn_old_scores_into_scores_of_the_files_here(
    opened: Opener, workspace: Workspace
) -> None:
    path = of_old_files(workspace)
    session = opened()
    session.seen(Outcome("alpha", "kv", "accuracy", Verdict.FAIL, "no", 0.1))
    session.set_text("a typo mended", index=0, row=session.rows[0])
    session.set_text("on the whole", index=0, row=SUMMARY)
    session.set_text("since", index=0, row=OVERALL)
    session.put_note(0, new_note("bug", "no"))
    session.flush()
    card = load_scorecard(path)
    assert (card.summary, card.submission, card.checks) == ("on the whole", OLD, (SEEN,))
    assert card.rubric == RubricSeen()


def test_a_changed_score_is_of_the_files_here_and_undone_it_is_of_the_old_ones(
    opened: Opener, workspace: Workspace
) -> None:
    path = of_old_files(workspace)
    session = opened()
    here = session.submissions[0].digest
    session.seen(Outcome("alpha", "kv", "accuracy", Verdict.FAIL, "no", 0.1))
    session.digit("9")
    session.take_score()
    session.flush()
    card = load_scorecard(path)
    assert (card.submission, card.rubric.digest) == (here, session.rubric.digest)
    assert [seen.verdict for seen in card.checks] == ["fail"]
    session.undo()
    session.flush()
    card = load_scorecard(path)
    assert (card.score("correctness"), card.submission, card.checks) == (60, OLD, (SEEN,))
    session.redo()
    session.close()
    assert of_files(path) == here
    again = opened()
    again.undo()
    again.flush()
    assert of_files(path) == OLD


def test_a_score_that_is_typed_again_confirms_it_for_the_files_here(
    opened: Opener, workspace: Workspace
) -> None:
    path = of_old_files(workspace)
    session = opened()
    session.digit("6")
    session.digit("0")
    session.flush()
    assert (load_scorecard(path).score("correctness"), of_files(path)) == (60, session.submissions[0].digest)


def test_verdicts_on_the_files_that_were_scored_come_to_the_card_with_later_words(opened: Opener) -> None:
    session = opened()
    session.digit("8")
    session.seen(Outcome("alpha", "kv", "accuracy", Verdict.FAIL, "no", 0.1))
    session.set_text("wrong", index=0, row=session.rows[0])
    session.forget("alpha")
    session.set_text("wrong!", index=0, row=session.rows[0])
    session.flush()
    assert [seen.verdict for seen in load_scorecard(session.paths[0]).checks] == ["fail"]


def test_a_text_that_is_left_as_it_is_makes_no_step_when_a_verdict_has_come(opened: Opener) -> None:
    session = opened()
    session.digit("8")
    session.seen(Outcome("alpha", "kv", "accuracy", Verdict.FAIL, "no", 0.1))
    session.set_text("", index=0, row=session.rows[0])
    assert len(session.changes) == 1


def test_work_of_an_earlier_run_is_saved_as_it_was_kept(opened: Opener, workspace: Workspace) -> None:
    path = of_old_files(workspace)
    keep(path, load_scorecard(path).with_score("tests", 75), FileStamp.at(path))
    session = opened()
    session.save_restored()
    session.flush()
    assert (load_scorecard(path).score("tests"), of_files(path)) == (75, OLD)


def test_a_card_of_another_window_is_loaded_as_it_is(opened: Opener, workspace: Workspace) -> None:
    session = opened()
    path = of_old_files(workspace)
    session.seen(Outcome("alpha", "kv", "accuracy", Verdict.FAIL, "no", 0.1))
    session.digit("9")
    session.flush()
    session.reload(0)
    session.flush()
    assert (of_files(path), load_scorecard(path).checks) == (OLD, (SEEN,))


def test_a_card_that_is_kept_over_one_of_other_files_goes_on_with_the_files_here(
    opened: Opener, workspace: Workspace
) -> None:
    session = opened()
    session.digit("8")
    session.flush()
    path = session.paths[0]
    save_scorecard(path, Scorecard("kv", "alpha", "anna").with_score("tests", 40), FileStamp.at(path))
    session.digit("5")
    session.flush()
    session.overwrite(0)
    file = workspace.root / "submissions" / "alpha" / "kv" / "helpers.py"
    file.write_text("changed = 1\n")
    session.submissions[0].refresh()
    session.focus_row(1)
    session.digit("7")
    session.flush()
    assert of_files(path) == workspace.submission("alpha", "kv").digest
