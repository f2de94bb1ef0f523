from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.judging.scorecard import Scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace


def test_a_workspace_is_found_from_any_folder_below_it(workspace: Workspace) -> None:
    below = workspace.submissions / "glm5" / "kv"
    assert Workspace.find(below).root == workspace.root
    assert Workspace.find(explicit=workspace.root).root == workspace.root


def test_outside_of_a_workspace_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="judge-tui init"):
        Workspace.find(tmp_path)
    with pytest.raises(WorkspaceError, match="no such folder"):
        Workspace.find(explicit=tmp_path / "absent")


def test_a_configuration_alone_makes_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "judge-tui.toml").write_text(
        'title = "T"\n[aliases]\nq = "qwen36"\n[models.qwen36]\ntitle = "Qwen"\n'
    )
    found = Workspace.find(tmp_path)
    assert found.title == "T"
    assert found.models() == ("qwen36",)
    assert found.model("q") == found.model("Qwen") == "qwen36"
    assert found.model_title("qwen36") == "Qwen"


def test_a_challenge_alone_makes_a_workspace_and_a_folder_of_that_name_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "challenges" / "rms"
    (folder / "notes").mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="nor a challenge in challenges/"):
        Workspace.find(tmp_path)
    (folder / "challenge.py").write_text('"""RMS."""\n')
    found = Workspace.find(folder)
    assert (found.root, found.models()) == (tmp_path, ())
    assert "rms" in found.tasks()


def test_a_malformed_configuration_is_one_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "judge-tui.toml").write_text('title = "T"\n[aliases]\nq = 5\n')
    with pytest.raises(WorkspaceError) as caught:
        Workspace.find(tmp_path).models()
    assert caught.value.line == 3


def test_models_and_tasks_are_those_with_submissions_or_scores(workspace: Workspace) -> None:
    card = Scorecard(task="fuse", model="kimi-k2.6", judge="anna")
    save_scorecard(workspace.scorecard_path("fuse", "kimi-k2.6", "anna"), card, None)
    (workspace.root / "scores" / "fuse" / "matchups").mkdir()
    (workspace.submissions / "glm5" / "__pycache__").mkdir()
    (workspace.submissions / ".git").mkdir()
    assert workspace.models() == ("glm5", "kimi-k2.6", "qwen36")
    assert workspace.submitted("glm5") == ("kv",)
    assert workspace.submitted("kimi-k2.6") == ()
    assert "fuse" in workspace.tasks()
    assert workspace.task("kv") == "kv"
    assert workspace.judges("fuse", "kimi-k2.6") == ("anna",)


def test_a_tree_of_submissions_elsewhere_is_read_and_never_written(
    workspace: Workspace, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere"
    (other / "new-model" / "kv").mkdir(parents=True)
    found = Workspace.find(workspace.root, submissions=other)
    assert found.models() == ("new-model",)
    assert found.submission("new-model", "kv").path == other / "new-model" / "kv"
    assert found.scorecard_path("kv", "new-model", "anna").is_relative_to(workspace.root)
    loose = Workspace.loose(other)
    assert loose.models() == ("new-model",)
    assert sorted(p.name for p in other.iterdir()) == ["new-model"]


def test_the_own_rubric_wins_over_the_shipped_one(workspace: Workspace) -> None:
    assert workspace.rubric("kv").version == 3
    assert workspace.rubric("fuse").task == "fuse"
    assert [cap.when for cap in workspace.rubric("chess").caps] == ["loads fails"]


def test_a_card_in_the_wrong_place_is_told_and_not_mixed_up(workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "glm5", "anna")
    save_scorecard(path, Scorecard(task="kv", model="glm5", judge="bert"), None)
    with pytest.raises(WorkspaceError, match="says judge 'bert'"):
        workspace.scorecard("kv", "glm5", "anna")


def test_a_blank_card_is_given_where_there_is_none(workspace: Workspace) -> None:
    card, stamp = workspace.scorecard("kv", "glm5", "anna")
    assert stamp is None
    assert card == Scorecard(task="kv", model="glm5", judge="anna")
    with pytest.raises(UsageError):
        workspace.scorecard_path("kv", "glm5", "../anna")


@pytest.mark.parametrize(
    "said",
    ["submissions/glm5/kv", "submissions/glm5/backwards", "bindings/glm5/kv", "bindings/glm5/backwards"],
)
def test_a_model_is_called_as_any_of_its_submissions_or_the_judge_beside_them_says(
    tmp_path: Path, said: str
) -> None:
    for task in ("backwards", "kv"):
        (tmp_path / "submissions" / "glm5" / task).mkdir(parents=True)
    (tmp_path / said).mkdir(parents=True, exist_ok=True)
    (tmp_path / said / "submission.toml").write_text('model = "GLM-5"\n')
    assert Workspace.at(tmp_path).model_title("glm5") == "GLM-5"
