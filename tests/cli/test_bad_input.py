"""Bad input: one sentence that says what is wrong, where, and what to do; and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.cli import diagnosis
from judge_tui.judging.export import BEGIN, END
from judge_tui.judging.workspace import Workspace

from .home_page import column

Cli = Callable[..., Any]


def answer(root: Path, model: str, *tasks: str) -> None:
    for task in tasks:
        folder = root / "submissions" / model / task
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("x = 1\n")


# which model is meant


def test_a_prefix_is_unique_among_the_models_that_answered_the_task(cli: Cli, root: Path) -> None:
    answer(root, "glm5.1", "fuse")
    assert "glm5 · kv" in cli("score", "glm", "--task", "kv").out
    assert "needs a terminal" in cli("compare", "glm", "qwen", "--task", "kv").err
    assert "glm5" in cli("check", "glm", "--task", "kv", "--check", "size", "--trust").out
    assert "glm5 · kv" in cli("bind", "glm", "--task", "kv", "--role", "append", "--trust").out
    # scores alone are an answer, too
    (root / "scores" / "chess" / "glm5.1").mkdir(parents=True)
    workspace = Workspace.find(root)
    assert workspace.model("glm", "chess") == "glm5.1"
    assert workspace.model("glm5", "chess") == "glm5"


def test_a_prefix_that_stays_ambiguous_lists_all_that_it_may_mean(cli: Cli, root: Path) -> None:
    answer(root, "glm5.1", "kv", "fuse")
    answer(root, "glm6", "fuse")
    for arguments in (("score", "glm", "--task", "kv"), ("compare", "glm", "qwen")):
        ended = cli(*arguments)
        assert ended.code == 2
        assert "Say one of: glm5, glm5.1, glm6." in ended.err


# what is not a model


def test_a_folder_without_a_task_in_it_is_no_model(cli: Cli, root: Path) -> None:
    (root / "submissions" / "phantom" / ".kv.partial").mkdir(parents=True)
    (root / "submissions" / "phantom" / "notes.txt").write_text("to do\n")
    assert Workspace.find(root).models() == ("glm5", "qwen36")
    assert "phantom" not in cli("home").out
    (root / "submissions" / "phantom" / "kv").mkdir()
    assert "phantom" in Workspace.find(root).models()


# scorecards


def test_a_malformed_scorecard_costs_its_own_cell_in_the_table(cli: Cli, root: Path) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85")
    cli("score", "qwen36", "--task", "kv", "--set", "correctness=70")
    broken = root / "scores" / "kv" / "glm5" / "alex.toml"
    broken.write_text("schema = ")
    told = cli("home").out
    assert column(told, "kv") == {"glm5": "!", "qwen36": "1/7"}
    assert told.count(str(broken)) == 1
    readme = root / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    ended = cli("export")
    assert ended.code == 2
    assert ended.err.count(str(broken)) == 1
    assert readme.read_text() == f"{BEGIN}\n{END}\n"


def test_a_malformed_submission_toml_costs_its_own_cell_in_the_table(cli: Cli, root: Path) -> None:
    cli("score", "qwen36", "--task", "kv", "--set", "correctness=70")
    meta = root / "submissions" / "glm5" / "kv" / "submission.toml"
    meta.write_text("origin = 3\n")
    ended = cli("home")
    assert ended.code == 0
    assert column(ended.out, "kv") == {"glm5": "!", "qwen36": "1/7"}
    assert ended.out.count(str(meta)) == 1


def test_a_scorecard_under_a_name_that_is_no_judges_is_told_with_its_place(cli: Cli, root: Path) -> None:
    folder = root / "scores" / "kv" / "glm5"
    folder.mkdir(parents=True)
    (folder / "a:b.toml").write_text("")
    (root / "README.md").write_text(f"{BEGIN}\n{END}\n")
    assert f"{folder}: the name of a judge cannot hold :" in cli("export").err
    assert f"! {folder}: the name of a judge" in cli("home").out


def test_a_dimension_that_the_rubric_has_not_is_told_and_kept(cli: Cli, root: Path) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85")
    path = root / "scores" / "kv" / "glm5" / "anna.toml"
    path.write_text(path.read_text() + "\n[dimensions.correctnes]\nscore = 5\n")
    (root / "README.md").write_text(f"{BEGIN}\n{END}\n")
    for arguments in (("score", "glm5", "--task", "kv", "--summary", "half"), ("export",)):
        ended = cli(*arguments)
        assert ended.code == 0
        assert ended.err.count("\n") == 1
        line = path.read_text().splitlines().index("[dimensions.correctnes]") + 1
        assert f"{path}:{line}: the rubric of kv has no dimension 'correctnes'" in ended.err
        assert "Did you mean correctness" in ended.err
    assert "[dimensions.correctnes]\nscore = 5\n" in path.read_text()


def test_scores_of_a_model_without_files_for_the_task_are_said_to_be_of_files_elsewhere(
    cli: Cli, root: Path
) -> None:
    told = cli("score", "qwen36", "--task", "backwards", "--set", "correctness=5").out
    assert "qwen36 has no file for backwards here" in told
    assert "elsewhere" not in cli("score", "glm5", "--task", "kv", "--set", "correctness=5").out


# rubrics


@pytest.mark.parametrize("command", ["score", "export"])
def test_a_rubric_with_a_misspelt_check_is_refused(cli: Cli, root: Path, command: str) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85")
    shipped = Path(__file__).parents[2] / "rubrics" / "kv.toml"
    (root / "rubrics").mkdir()
    own = root / "rubrics" / "kv.toml"
    own.write_text(shipped.read_text().replace('if = "gqa fails"', 'if = "gqaa fails"'))
    (root / "README.md").write_text(f"{BEGIN}\n{END}\n")
    arguments = ("score", "glm5", "--task", "kv") if command == "score" else ("export",)
    ended = cli(*arguments)
    assert ended.code == 2
    assert f"{own}:" in ended.err
    assert "the task kv has no check 'gqaa'" in ended.err
    assert "Did you mean gqa?" in ended.err
    own.write_text(shipped.read_text())
    assert cli(*arguments).code == 0


# check


def test_a_tree_that_begins_a_folder_too_low_is_told_as_such(cli: Cli, root: Path) -> None:
    ended = cli("check", "--submissions", root / "submissions" / "qwen36", "--all")
    assert ended.code == 2
    assert "qwen36/<model>/<task>/" in ended.err
    assert "kv/ stands where the folder of a model should" in ended.err


# init


@pytest.mark.parametrize("part", ["submissions", "scores"])
def test_init_makes_nothing_where_a_file_is_in_the_way(cli: Cli, tmp_path: Path, part: str) -> None:
    folder = tmp_path / "new" / "ws"
    (folder).mkdir(parents=True)
    (folder / part).write_text("mine\n")
    ended = cli("init", folder)
    assert ended.code == 2
    assert f"{folder / part}: cannot be made" in ended.err
    assert [path.name for path in folder.iterdir()] == [part]


def test_init_below_a_file_makes_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine\n")
    assert cli("init", tmp_path / "file" / "ws").code == 2
    assert (tmp_path / "file").read_text() == "mine\n"


def test_init_beside_a_folder_that_is_called_readme_says_that_export_needs_a_file(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "README.md").mkdir()
    ended = cli("init", tmp_path)
    assert ended.code == 0
    assert "The scoreboard goes into a file" in ended.out
    assert Workspace.find(tmp_path).root == tmp_path


# export


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{BEGIN}\n", f"the marker {END} is missing."),
        (f"{BEGIN}\n{END}\n\n{BEGIN}\n{END}\n", "stands 2 times, in the lines 1 and 4"),
        (f"```\n{BEGIN}\n{END}\n```\n", "is missing: in line 2 it stands beside other text or in a block"),
        (f"> {BEGIN}\n> {END}\n", "is missing: in line 1 it stands"),
        (f"{END}\n{BEGIN}\n", "stands before"),
        ("", "is missing."),
    ],
)
def test_markers_that_are_off_are_told_with_their_lines(cli: Cli, root: Path, text: str, words: str) -> None:
    (root / "README.md").write_text(text)
    ended = cli("export")
    assert ended.code == 2
    assert "README.md: the marker" in ended.err
    assert words in ended.err
    assert (root / "README.md").read_text() == text


def test_a_readme_in_utf_16_is_told_as_such(cli: Cli, root: Path) -> None:
    (root / "README.md").write_text(f"{BEGIN}\n{END}\n", encoding="utf-16")
    assert "is UTF-16" in cli("export").err


def test_a_readme_with_a_byte_order_mark_and_crlf_keeps_both(cli: Cli, root: Path) -> None:
    (root / "README.md").write_bytes(f"\ufeff{BEGIN}\r\n{END}\r\nend".encode())
    assert cli("export").code == 0
    data = (root / "README.md").read_bytes()
    assert data.startswith(f"\ufeff{BEGIN}\r\n".encode())
    assert data.endswith(f"{END}\r\nend".encode())
    assert data.count(b"\n") == data.count(b"\r\n")


def test_export_writes_into_no_folder_no_pipe_and_no_read_only_file(
    cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is a folder: the scoreboard goes into a file" in cli("export", "submissions").err
    os.mkfifo(root / "pipe.md")
    assert "is no file: the scoreboard goes into a file" in cli("export", "pipe.md").err
    readme = root / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    # root may write anywhere
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    ended = cli("export")
    assert ended.code == 2
    assert "README.md: is read-only." in ended.err
    assert readme.read_text() == f"{BEGIN}\n{END}\n"
    assert cli("export", "--check").code == 1


# words


def test_doctor_counts_one_model_in_the_singular(root: Path) -> None:
    import shutil

    shutil.rmtree(root / "submissions" / "qwen36")
    shutil.rmtree(root / "submissions" / "glm5" / "backwards")
    assert diagnosis._workspace(root).told.endswith(": 1 model, 1 submission")


def test_export_writes_into_no_file_of_another_workspace(
    cli: Cli, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    assert cli("init", str(other)).code == 0
    readme = other / "README.md"
    before = readme.read_bytes()
    monkeypatch.chdir(other)
    ended = cli("export", "README.md", "--workspace", str(root))
    assert ended.code == 2
    assert f"{readme} belongs to another workspace" in ended.err
    assert readme.read_bytes() == before
    board = root / "README.md"
    board.write_text(f"{BEGIN}\n{END}\n")
    assert f"the scoreboard of {root} is written" in cli("export", str(board), "--workspace", str(root)).out


def test_doctor_tells_what_is_malformed_in_the_workspace(cli: Cli, root: Path) -> None:
    card = root / "scores" / "kv" / "glm5" / "anna.toml"
    card.parent.mkdir(parents=True, exist_ok=True)
    card.write_text("schema = [")
    line = next(line for line in cli("doctor").out.splitlines() if " workspace " in line)
    assert not line.startswith("✓")
    assert str(card) in line
