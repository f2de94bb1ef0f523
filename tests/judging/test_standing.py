from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.standing import outline, standing
from judge_tui.judging.workspace import Workspace

RUBRIC = """
[[dimension]]
id = "correctness"
[[dimension]]
id = "tests"
[[grade]]
letter = "A"
min = 90
[[grade]]
letter = "B"
min = 0
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "ws"
    for folder in ("rubrics", "scores", "submissions/a/kv", "submissions/b/kv", "submissions/b/fuse"):
        (root / folder).mkdir(parents=True)
    (root / "rubrics" / "kv.toml").write_text(RUBRIC)
    for model in "ab":
        (root / "submissions" / model / "kv" / "cache.py").write_text("x = 1\n")
    (root / "submissions" / "a" / "kv" / "submission.toml").write_text(
        'origin = "reconstruction"\nmodel = "Alpha"\n'
    )
    return Workspace.find(explicit=root)


def closed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """As ``chmod 000`` does it for everybody but root."""

    def refuses(real: Callable[..., Any]) -> Callable[..., Any]:
        def read(path: Any = ".", *rest: Any) -> Any:
            if Path(os.fspath(path)) == folder:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return real(path, *rest)

        return read

    monkeypatch.setattr(os, "scandir", refuses(os.scandir))
    monkeypatch.setattr(os, "listdir", refuses(os.listdir))


def score(workspace: Workspace, model: str = "a", **scores: int) -> None:
    card, stamp = workspace.scorecard("kv", model, "anna")
    for dimension, value in scores.items():
        card = card.with_score(dimension, value)
    card = card.judged_under(workspace.rubric("kv"), workspace.submission(model, "kv").digest)
    save_scorecard(workspace.scorecard_path("kv", model, "anna"), card, stamp)


def test_the_outline_has_submissions_and_what_the_judge_has_scored(workspace: Workspace) -> None:
    for judge, model in (("anna", "gone"), ("bert", "hidden")):
        path = workspace.scorecard_path("kv", model, judge)
        path.parent.mkdir(parents=True)
        path.write_text(f'task = "kv"\nmodel = "{model}"\njudge = "{judge}"\n')
    got = outline(workspace, "anna")
    assert got.models == ("a", "b", "gone")
    assert got.tasks == ("fuse", "kv")
    assert got.submitted == {("a", "kv"), ("b", "kv"), ("b", "fuse")}
    assert got.titles["a"] == "Alpha"


def test_nothing_scored_is_not_zero(workspace: Workspace) -> None:
    got = standing(workspace, "a", "kv", "anna")
    assert (got.points, got.mean, got.letter, got.scored, got.dimensions) == (None, None, "", 0, 2)
    assert (got.open, got.begun, got.stale, got.origin, got.files) == (
        True,
        False,
        False,
        "reconstruction",
        1,
    )


def test_progress_points_and_letter_follow_from_the_card(workspace: Workspace) -> None:
    score(workspace, correctness=80)
    got = standing(workspace, "a", "kv", "anna")
    assert (got.scored, got.points, got.mean, got.judged, got.begun) == (1, None, 80, False, True)
    score(workspace, tests=100)
    got = standing(workspace, "a", "kv", "anna")
    assert (got.scored, got.points, got.letter, got.judged, got.begun) == (2, 90, "A", True, False)


def test_a_note_alone_is_a_beginning(workspace: Workspace) -> None:
    card, stamp = workspace.scorecard("kv", "a", "anna")
    save_scorecard(workspace.scorecard_path("kv", "a", "anna"), card.with_note(new_note("bug", "no")), stamp)
    assert standing(workspace, "a", "kv", "anna").begun


def test_files_that_changed_since_they_were_scored_are_stale(workspace: Workspace) -> None:
    score(workspace, correctness=80, tests=100)
    (workspace.root / "submissions" / "a" / "kv" / "cache.py").write_text("x = 2\n")
    got = standing(workspace, "a", "kv", "anna")
    assert got.stale
    assert not got.elsewhere


def test_scores_of_files_elsewhere_are_said_to_be_that_and_are_never_stale(workspace: Workspace) -> None:
    card, _ = workspace.scorecard("kv", "a", "anna")
    save_scorecard(workspace.scorecard_path("kv", "a", "anna"), card.with_overall(70).with_grade("B"), None)
    got = standing(workspace, "a", "kv", "anna")
    assert (got.elsewhere, got.stale, got.points, got.letter) == (True, False, 70, "B")
    assert standing(workspace, "a", "kv", "bert").others == ("anna",)


def test_stored_verdicts_are_those_of_the_present_files_the_worst_first(workspace: Workspace) -> None:
    submission = workspace.submission("a", "kv")
    store = Store()
    key = store.key(submission, "cpu", "NumPy")
    found = [
        Outcome("a", "kv", check, Verdict(verdict), "said", 0.1)
        for check, verdict in (("x", "pass"), ("y", "fail"), ("z", "pass"))
    ]
    store.keep(found, key)
    store.chose("kv", "auto", "cpu", ["NumPy"])
    assert standing(workspace, "a", "kv", "anna").tally == ((Verdict.FAIL, 1), (Verdict.PASS, 2))
    (workspace.root / "submissions" / "a" / "kv" / "cache.py").write_text("x = 2\n")
    assert standing(workspace, "a", "kv", "anna").tally == ()


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("scores/kv/a/anna.toml", "task = ", "anna.toml:1: is not valid TOML"),
        ("scores/kv/a/anna.toml", 'task = "kv"\nmodel = "b"\njudge = "anna"', "its place says 'a'"),
        ("rubrics/kv.toml", "title = 3", "kv.toml"),
        ("submissions/a/kv/submission.toml", "origin = 3", "'origin' must be a text"),
    ],
)
def test_what_is_off_with_a_file_is_a_sentence_in_its_cell(
    workspace: Workspace, file: str, text: str, words: str
) -> None:
    path = workspace.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    got = standing(workspace, "a", "kv", "anna")
    assert words in got.fault
    assert not got.open
    assert path.read_text() == text


@pytest.mark.parametrize(("judge", "model"), [("anna", "b"), ("bert", "a"), ("bert", "b")])
def test_a_malformed_card_costs_no_cell_but_that_of_its_judge_and_model(
    workspace: Workspace, judge: str, model: str
) -> None:
    path = workspace.scorecard_path("kv", "a", "anna")
    path.parent.mkdir(parents=True)
    path.write_text("task = ")
    assert "is not valid TOML" in standing(workspace, "a", "kv", "anna").fault
    assert standing(workspace, model, "kv", judge).fault == ""


def test_a_task_of_which_there_are_answers_alone_has_a_rubric_all_the_same(workspace: Workspace) -> None:
    path = workspace.root / "submissions" / "b" / "chess"
    path.mkdir()
    found = standing(workspace, "b", "chess", "anna")
    assert (found.fault, found.dimensions) == ("", 5)


def test_one_folder_that_cannot_be_read_is_told_and_the_others_are_there(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(monkeypatch, workspace.root / "submissions" / "b")
    got = outline(workspace, "anna")
    assert got.models == ("a", "b")
    assert got.submitted == {("a", "kv")}
    assert got.faults == {"b": f"{workspace.root / 'submissions' / 'b'}: cannot be read: Permission denied."}
    assert workspace.tasks()


def test_scores_that_cannot_be_read_cost_their_own_cells(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(workspace, correctness=90)
    closed(monkeypatch, workspace.root / "scores" / "kv")
    assert outline(workspace, "anna").submitted == {("a", "kv"), ("b", "kv"), ("b", "fuse")}


def test_a_name_that_cannot_be_read_is_the_folder_s_and_stops_nothing(workspace: Workspace) -> None:
    meta = workspace.root / "submissions" / "b" / "kv" / "submission.toml"
    meta.write_text("model = [")
    assert workspace.model_title("b") == "b"
    assert outline(workspace, "anna").titles["b"] == "b"


@pytest.mark.parametrize("folder", ["", "inner"])
def test_a_submission_with_a_folder_that_cannot_be_read_is_no_smaller_submission(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    path = workspace.root / "submissions" / "a" / "kv" / folder
    path.mkdir(exist_ok=True)
    closed(monkeypatch, path)
    got = standing(workspace, "a", "kv", "anna")
    assert got.fault.startswith(f"{path}: cannot be read: Permission denied. Make it readable")
    assert not got.open
