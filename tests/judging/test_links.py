"""Links that lead out of a workspace: behind them is no submission, and nothing of a judge's."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.folders import stray_links
from judge_tui.judging.scorecard import render_scorecard
from judge_tui.judging.workspace import Workspace


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the workspace, with an answer, a card and a rubric in it."""
    folder = tmp_path / "outside"
    (folder / "kv").mkdir(parents=True)
    (folder / "kv" / "cache.py").write_text("secret = 1\n")
    (folder / "anna.toml").write_text(render_scorecard(Scorecard("kv", "alpha", "anna", summary="secret")))
    return folder


@pytest.fixture
def linked(tmp_path: Path, outside: Path) -> Workspace:
    root = tmp_path / "ws"
    (root / "submissions" / "alpha" / "kv").mkdir(parents=True)
    (root / "submissions" / "alpha" / "kv" / "cache.py").write_text("x = 1\n")
    (root / "scores" / "kv" / "alpha").mkdir(parents=True)
    (root / "submissions" / "beta").symlink_to(outside)
    (root / "submissions" / "alpha" / "fuse").symlink_to(outside / "kv")
    (root / "submissions" / "gamma").symlink_to(root / "submissions" / "alpha")
    return Workspace.find(explicit=root)


def test_a_folder_behind_a_link_that_leads_out_is_no_submission(linked: Workspace) -> None:
    assert linked.models() == ("alpha", "gamma")
    assert linked.submitted("alpha") == ("kv",)
    assert linked.submission("beta", "kv").files == ()
    assert linked.submission("alpha", "fuse").files == ()
    assert {path.name for path in stray_links(linked.submissions)} == {"beta", "fuse"}


def test_a_link_within_the_tree_is_the_submission_that_it_leads_to(linked: Workspace) -> None:
    assert linked.submission("gamma", "kv").digest == linked.submission("alpha", "kv").digest


def test_a_model_that_scores_know_is_not_read_behind_a_link_either(linked: Workspace) -> None:
    (linked.root / "scores" / "kv" / "beta").mkdir()
    assert "beta" in linked.models()
    assert linked.submission("beta", "kv").files == ()
    assert linked.submission("beta", "kv").held.files == ()


def test_a_card_behind_a_link_is_neither_read_nor_written(linked: Workspace, outside: Path) -> None:
    before = (outside / "anna.toml").read_bytes()
    (linked.root / "scores" / "kv" / "alpha" / "anna.toml").symlink_to(outside / "anna.toml")
    with pytest.raises(WorkspaceError, match="behind a link"):
        linked.scorecard("kv", "alpha", "anna")
    with pytest.raises(WorkspaceError, match="behind a link"):
        linked.scorecard_path("kv", "alpha", "anna")
    assert (outside / "anna.toml").read_bytes() == before


@pytest.mark.parametrize("part", ["scores", "scores/kv", "scores/kv/alpha", "scores/kv/matchups", "rubrics"])
def test_folders_of_the_judge_behind_links_are_neither_read_nor_written(
    part: str, linked: Workspace, outside: Path
) -> None:
    target = linked.root / part
    if target.exists():
        target.rename(linked.root / "aside")
    target.symlink_to(outside)
    asked = {
        "matchups": lambda: linked.matchups("kv", "anna"),
        "rubrics": lambda: linked.rubric_path("kv"),
    }.get(target.name, lambda: linked.scorecard("kv", "alpha", "anna"))
    with pytest.raises(WorkspaceError, match="behind a link"):
        asked()


def test_a_workspace_that_is_itself_reached_by_a_link_is_one(linked: Workspace, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(linked.root)
    reached = Workspace.find(explicit=tmp_path / "shortcut")
    assert reached.models() == linked.models()
    assert reached.scorecard("kv", "alpha", "anna")[1] is None


@pytest.mark.parametrize("part", ["bindings", "bindings/alpha", "bindings/alpha/kv"])
def test_bindings_behind_a_link_that_leads_out_are_not_the_judges(
    part: str, linked: Workspace, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "alpha" / "kv").mkdir(parents=True)
    target = linked.root / part
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(elsewhere.joinpath(*Path(part).parts[1:]))
    assert linked.submission("alpha", "kv").overlays == ()
