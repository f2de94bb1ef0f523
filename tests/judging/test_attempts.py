"""Attempts in a workspace: where they lie, how they are meant, and their cards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.judging.exchange.records import card_of, card_record
from judge_tui.judging.hiding.block import BLOCK
from judge_tui.judging.hiding.mask import Mask, telling_names
from judge_tui.judging.naming import new_name
from judge_tui.judging.pairs import queue
from judge_tui.judging.scorecard import Scorecard, save_scorecard
from judge_tui.judging.standing import Standing, outline
from judge_tui.judging.strange_names import strange_names
from judge_tui.judging.workspace import Workspace


@pytest.fixture
def several(workspace: Workspace) -> Workspace:
    """A workspace with a second and a tenth answer of glm5."""
    for number in (2, 10):
        folder = workspace.submissions / "glm5" / f"kv@{number}"
        folder.mkdir()
        (folder / "kv_cache.py").write_text(f"# {number}\n")
    return workspace


def test_attempts_are_neither_models_nor_tasks_of_their_own(several: Workspace) -> None:
    assert several.models() == ("glm5", "qwen36")
    assert "kv@2" not in several.tasks()
    assert several.submitted("glm5") == several.submitted("glm5@2") == ("kv",)
    assert several.submitted("glm5@3") == ()
    assert several.contestants() == ("glm5", "glm5@2", "glm5@10", "qwen36")
    assert several.attempts("glm5", "kv") == ("glm5", "glm5@2", "glm5@10")
    assert several.attempts("qwen36", "kv") == ("qwen36",)


def test_a_task_that_only_a_later_attempt_answers_is_one(several: Workspace) -> None:
    (several.submissions / "glm5" / "chess@3").mkdir()
    assert "chess" in several.tasks()
    assert several.submitted("glm5") == ("kv",)
    assert several.submitted("glm5@3") == ("chess",)


def test_an_attempt_lies_beside_the_first_with_bindings_of_its_own(several: Workspace) -> None:
    found = several.submission("glm5@2", "kv")
    assert (found.model, found.task) == ("glm5@2", "kv")
    assert found.path == several.submissions / "glm5" / "kv@2"
    assert found.overlays == (several.root / "bindings" / "glm5" / "kv@2",)


@pytest.mark.parametrize("typed", ["glm5@2", "GLM-5@2", "glm@2", "mine@2"])
def test_the_number_stands_behind_any_way_to_name_a_model(several: Workspace, typed: str) -> None:
    (several.root / "judge-tui.toml").write_text('[aliases]\nmine = "glm5"\nbest = "glm5@10"\n')
    assert several.model(typed, "kv") == "glm5@2"
    assert several.model("best") == "glm5@10"


def test_an_attempt_that_is_not_there_is_told_with_those_that_are(several: Workspace) -> None:
    with pytest.raises(UsageError, match=r"glm5 has no attempt 3.*glm5, glm5@2, glm5@10"):
        several.model("glm@3", "kv")
    with pytest.raises(UsageError, match="Say glm5@2"):
        several.model("glm@2", "kv", whole=True)


def test_of_several_models_the_one_with_that_attempt_is_meant(several: Workspace) -> None:
    (several.submissions / "glm4" / "kv").mkdir(parents=True)
    assert several.model("glm@2", "kv") == "glm5@2"


def test_a_display_name_carries_the_number(several: Workspace) -> None:
    assert several.model_title("glm5@2") == "glm5@2"
    (several.submissions / "glm5" / "kv" / "submission.toml").write_text('model = "GLM-5"\n')
    assert several.model_title("glm5@2") == "GLM-5 @2"
    (several.root / "judge-tui.toml").write_text('[models.glm5]\ntitle = "Glm"\n')
    assert Workspace.at(several.root).model_title("glm5@10") == "Glm @10"


def test_a_card_of_an_attempt_says_model_and_attempt_and_comes_back(several: Workspace) -> None:
    card = Scorecard(task="kv", model="glm5@2", judge="anna").with_score("correctness", 70)
    path = several.scorecard_path("kv", "glm5@2", "anna")
    assert path == several.root / "scores" / "kv" / "glm5@2" / "anna.toml"
    save_scorecard(path, card, None)
    text = path.read_text()
    assert 'model = "glm5"\nattempt = 2\n' in text
    found, _ = several.scorecard("kv", "glm5@2", "anna")
    assert (found.model, found.score("correctness")) == ("glm5@2", 70)
    assert several.scorecard("kv", "glm5", "anna")[0].blank
    assert [one.model for one in several.scorecards("kv")] == ["glm5@2"]


def test_a_card_of_the_first_says_nothing_of_attempts(several: Workspace) -> None:
    path = several.scorecard_path("kv", "glm5", "anna")
    save_scorecard(path, Scorecard(task="kv", model="glm5", judge="anna"), None)
    assert "attempt" not in path.read_text()


def test_a_card_from_before_that_has_the_number_in_its_name_is_read(several: Workspace) -> None:
    path = several.scorecard_path("kv", "glm5@2", "anna")
    path.parent.mkdir(parents=True)
    path.write_text('schema = 1\ntask = "kv"\nmodel = "glm5@2"\njudge = "anna"\noverall = 70\n')
    assert several.scorecard("kv", "glm5@2", "anna")[0].overall == 70


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('model = "glm5"', "says model 'glm5', and its place says 'glm5@2'"),
        ('model = "glm5"\nattempt = 3', "says model 'glm5@3'"),
        ('model = "glm5"\nattempt = 0', ":4: 'attempt' must be a whole number from 1"),
        ('model = "glm5"\nattempt = "two"', ":4: 'attempt' must be a whole number"),
    ],
)
def test_a_card_that_is_about_another_attempt_than_its_place_is_told(
    several: Workspace, lines: str, told: str
) -> None:
    path = several.scorecard_path("kv", "glm5@2", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(f'task = "kv"\njudge = "anna"\n{lines}\n')
    with pytest.raises(WorkspaceError, match=told):
        several.scorecard("kv", "glm5@2", "anna")


def test_a_record_of_an_attempt_comes_back(tmp_path: Path) -> None:
    card = Scorecard(task="kv", model="glm5@3", judge="anna", overall=80)
    record = json.loads(json.dumps(card_record(card)))
    assert (record["model"], record["attempt"]) == ("glm5", 3)
    assert card_of(record, tmp_path) == card


@pytest.mark.parametrize("name", ["glm5@2", "x@y"])
def test_a_new_name_with_the_sign_of_attempts_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot hold @"):
        new_name(name)
    with pytest.raises(UsageError, match="of a task cannot hold @"):
        new_name(name, "task")
    assert new_name("glm5") == "glm5"


def test_the_refusal_of_a_name_says_how_an_attempt_is_added() -> None:
    with pytest.raises(UsageError, match="--model glm5 --attempt 2"):
        new_name("glm5@2")


def test_a_model_of_old_with_the_sign_in_its_name_is_told_and_used(several: Workspace) -> None:
    for name in ("claude@3", "x@y"):
        folder = several.submissions / name / "kv"
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("pass\n")
    assert several.model("claude@3") == "claude@3"
    assert several.model("x@y") == "x@y"
    assert several.submission("claude@3", "kv").path == several.submissions / "claude@3" / "kv"
    assert several.models() == ("claude@3", "glm5", "qwen36", "x@y")
    (several.submissions / "glm5" / "kv@1").mkdir()
    told = strange_names(several)
    assert [sentence.split(" ")[0] for sentence in told] == ["claude@3", "glm5/kv@1", "x@y"]


def test_nothing_is_told_of_names_that_are_in_order(several: Workspace) -> None:
    assert strange_names(several) == ()


def test_home_has_a_row_for_each_attempt_behind_its_model(several: Workspace) -> None:
    found = outline(several, "anna")
    assert found.models == ("glm5", "glm5@2", "glm5@10", "qwen36")
    assert ("glm5@2", "kv") in found.submitted
    assert found.tasks == ("kv",)


def test_no_matchup_is_asked_for_between_attempts_of_one_model() -> None:
    cells = [
        Standing(model, "kv", files=1, points=80, judged=True, digest=model)
        for model in ("glm5", "glm5@2", "qwen36")
    ]
    assert {pair.models for pair in queue(cells, {"kv": []})} == {("glm5", "qwen36"), ("glm5@2", "qwen36")}


def test_a_mask_hides_the_numbers_of_attempts_with_the_names(several: Workspace) -> None:
    hide = Mask(telling_names(several))
    assert hide("submissions/glm5/kv@2/kv_cache.py: GLM-5 @10") == (
        f"submissions/{BLOCK * 4}/kv{BLOCK * 2}/kv_cache.py: {BLOCK * 5} {BLOCK * 3}"
    )
    assert hide.spans("kv@2 and kv@3") == [(2, 4)]


def test_without_attempts_nothing_more_is_hidden(workspace: Workspace) -> None:
    assert Mask(telling_names(workspace))("kv@2") == "kv@2"


def test_of_the_same_answers_one_is_to_be_judged() -> None:
    cells = [
        Standing("glm5", "kv", files=1, digest="a"),
        Standing("glm5@2", "kv", files=1, digest="b"),
        Standing("glm5@3", "kv", files=1, digest="a"),
        Standing("qwen36", "kv", files=1, digest="a"),
        Standing("qwen36@2", "kv", files=1, digest="a", scored=1),
    ]
    due = {model for pair in queue(cells, {}) for model in pair.due}
    assert due == {"glm5", "glm5@2", "qwen36", "qwen36@2"}
