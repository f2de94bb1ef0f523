"""rubric: one's own begins as what applies, lies where it is looked for, and is never written over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.challenges.task import made
from judge_tui.judging.known_checks import unknown_checks
from judge_tui.judging.rubric import default_rubric
from judge_tui.judging.workspace import Workspace

Cli = Callable[..., Any]


def test_that_of_a_built_in_task_is_a_copy_of_the_shipped_one(cli: Cli, root: Path) -> None:
    told = cli("rubric", "new", "kv")
    assert told.code == 0
    assert "rubrics/kv.toml" in told.out
    assert "[[dimension]]" in told.out
    assert Workspace.at(root).rubric("kv") == default_rubric("kv")


def test_that_of_a_challenge_goes_into_its_folder_and_names_its_checks(cli: Cli, root: Path) -> None:
    cli("challenge", "new", "mine", "--kind", "tests")
    before = Workspace.at(root).rubric("mine")
    assert "challenges/mine/rubric.toml" in cli("rubric", "new", "mine").out
    path = root / "challenges" / "mine" / "rubric.toml"
    assert "test_values_leave_the_window fails" in path.read_text()
    assert Workspace.at(root).rubric_path("mine") == path
    assert Workspace.at(root).rubric("mine") == before


@pytest.mark.parametrize("kind", ["numbers", "tests", "programs"])
def test_it_names_no_check_that_the_challenge_has_not(cli: Cli, root: Path, kind: str) -> None:
    cli("challenge", "new", "mine", "--kind", kind)
    cli("rubric", "new", "mine")
    challenge = Workspace.at(root).challenge("mine")
    assert challenge is not None
    path = Workspace.at(root).rubric_path("mine")
    assert unknown_checks(path, "mine", tuple(made(challenge).by_id)) == ()


def test_that_of_a_task_of_answers_alone_goes_beside_the_others(cli: Cli, root: Path) -> None:
    (root / "submissions" / "glm5" / "essay").mkdir()
    assert cli("rubric", "new", "essay").code == 0
    assert Workspace.at(root).rubric("essay").task == "essay"
    assert (root / "rubrics" / "essay.toml").is_file()


@pytest.mark.parametrize("own", ["rubrics/mine.toml", "challenges/mine/rubric.toml", "rubrics/kv.toml"])
def test_what_is_there_stays_as_it_is(cli: Cli, root: Path, own: str) -> None:
    cli("challenge", "new", "mine")
    (root / "rubrics").mkdir()
    (root / own).write_text("# mine\n")
    ended = cli("rubric", "new", "mine" if "mine" in own else "kv")
    assert ended.code == 2
    assert f"{own}: is there already" in ended.err
    assert (root / own).read_text() == "# mine\n"
    assert len([*root.glob("rubrics/*"), *root.glob("challenges/mine/rubric.toml")]) == 1


def test_a_name_has_to_be_whole_and_known(cli: Cli, root: Path) -> None:
    for name in ("fus", "chess"):
        assert cli("rubric", "new", name).code == 2
    assert not (root / "rubrics").exists()


def test_what_applies_is_printed_and_does_nothing_to_a_terminal(cli: Cli, root: Path) -> None:
    assert 'task = "kv"' in cli("rubric", "show", "kv").out
    cli("rubric", "new", "kv")
    with (root / "rubrics" / "kv.toml").open("a") as file:
        file.write("# \x1b[31mmine\n")
    shown = cli("rubric", "show", "kv").out
    assert "# ␛[31mmine\n" in shown
    assert "\x1b" not in shown


def test_a_link_that_leads_nowhere_is_told(cli: Cli, root: Path) -> None:
    (root / "rubrics").mkdir()
    (root / "rubrics" / "kv.toml").symlink_to(root / "absent.toml")
    assert "leads nowhere" in cli("rubric", "show", "kv").err
    assert cli("rubric", "new", "kv").code == 2
    assert not (root / "absent.toml").exists()


def test_the_group_alone_says_what_it_offers(cli: Cli) -> None:
    told = cli("rubric")
    assert told.code == 0
    assert "show" in told.out
