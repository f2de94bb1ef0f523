"""Which files the scores of a card refer to, once it was changed on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.card import Scorecard
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import load_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.session import Session

from .conftest import Opener


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
