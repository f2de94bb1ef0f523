"""Mistakes that TOML allows in a rubric: refused with file, line and what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.known_checks import refuse_unknown_checks, unknown_checks
from judge_tui.judging.rubric import default_tasks
from judge_tui.judging.rubric_mistakes import TAKEN
from judge_tui.judging.workspace import Workspace


def refused(workspace: Workspace, old: str, new: str) -> WorkspaceError:
    path = workspace.rubric_path("kv")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(WorkspaceError) as caught:
        workspace.rubric("kv")
    assert caught.value.file == str(path)
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ('title = "KV cache"', 'titel = "KV"', "a rubric has no key 'titel'", "Did you mean title?"),
        ("weight = 1.0", "wieght = 1.0", "a dimension has no key 'wieght'", "Did you mean weight?"),
        ("[dimension.levels]", "[dimension.level]", "no key 'level'", "Did you mean levels?"),
        ("[[cap]]", "[[caps]]", "a rubric has no key 'caps'", "Did you mean cap?"),
        ("max = 60", "bound = 60", "a cap has no key 'bound'", "It has: if"),
        ("min = 90", "min = 900", "between 0 and 100", ""),
        ('letter = "B"', 'letter = "A"', "two grades have the letter 'A'", ""),
        ("min = 90", "min = 0", "two grades have the min '0'", ""),
        ('key = "e"', 'key = "n"', "it goes to the next dimension without a score", "Free are: a b d"),
        ('key = "e"', 'key = "q"', "it leaves", "Free are"),
        ('id = "code_quality"', 'id = "overall"', "the judge's own total", ""),
        ('id = "code_quality"', 'id = " "', "must not be empty", ""),
        ('task = "kv"', 'task = "kx"', "says task 'kx', and its name says 'kv'", "kx.toml"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_was_meant(
    workspace: Workspace, old: str, new: str, message: str, hint: str
) -> None:
    error = refused(workspace, old, new)
    assert message in error.message
    assert hint in error.hint
    lines = workspace.rubric_path("kv").read_text().splitlines()
    # of two that are the same, the second is named
    assert error.line in [n for n, line in enumerate(lines, 1) if new in line] + [len(lines)]


def test_a_rubric_that_cannot_be_read_is_never_replaced_by_the_shipped_one(workspace: Workspace) -> None:
    path = workspace.rubric_path("kv")
    path.unlink()
    path.symlink_to(path.with_name("absent.toml"))
    with pytest.raises(WorkspaceError, match="is a link that leads nowhere"):
        workspace.rubric("kv")
    path.unlink()
    path.mkdir()
    with pytest.raises(WorkspaceError, match="cannot be read: Is a directory"):
        workspace.rubric("kv")
    path.rmdir()
    path.parent.rmdir()
    path.parent.write_text("no folder\n")
    with pytest.raises(WorkspaceError, match="cannot be read: Not a directory"):
        workspace.rubric("kv")
    path.parent.unlink()
    assert workspace.rubric("kv").title.startswith("KV cache for")


def test_a_rubric_that_is_a_link_to_a_file_is_read(workspace: Workspace, tmp_path: Path) -> None:
    path = workspace.rubric_path("kv")
    shared = workspace.root / "rubrics" / "shared.toml"
    path.rename(shared)
    path.symlink_to(shared)
    assert workspace.rubric("kv").version == 3
    path.unlink()
    shared.rename(tmp_path / "elsewhere.toml")
    path.symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(WorkspaceError, match="behind a link"):
        workspace.rubric("kv")


def test_every_key_that_the_rubric_pane_needs_is_taken() -> None:
    from judge_tui.tui.screens.compare import CompareScreen
    from judge_tui.tui.widgets.rubric_pane import RubricLines

    signs = {"plus": "+", "equals_sign": "=", "minus": "-", "question_mark": "?"}
    keys = {signs.get(key, key) for one in RubricLines.BINDINGS for key in one.key.split(",")}
    typed = {key for key in keys if len(key) == 1 and not key.isdigit()}
    assert typed - {"h", "l", "V"} <= set(TAKEN)
    everywhere = {signs.get(key, key) for one in CompareScreen.BINDINGS for key in one.key.split(",")}
    assert {"u", "q", "?"} <= everywhere & set(TAKEN)


def named(workspace: Workspace, old: str, new: str) -> Path:
    path = workspace.rubric_path("kv")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "line"),
    [('["incremental_equals_full"]', 10), ('"incremental_equals_full fails"', 23)],
)
def test_a_check_that_the_task_has_not_is_refused_with_the_nearest_name(
    workspace: Workspace, old: str, line: int
) -> None:
    path = named(workspace, old, old.replace("equals", "equal"))
    with pytest.raises(WorkspaceError) as caught:
        refuse_unknown_checks(path, "kv")
    assert caught.value.line == line
    assert caught.value.message == "the task kv has no check 'incremental_equal_full'."
    assert caught.value.hint == "Did you mean incremental_equals_full?"


def test_checks_that_the_shipped_rubric_names_not_are_known_from_the_task(workspace: Workspace) -> None:
    path = named(workspace, 'task = "kv"', 'task = "fuse"')
    path.write_text(path.read_text().replace("incremental_equals_full", "purity"))
    refuse_unknown_checks(path, "fuse")
    with pytest.raises(WorkspaceError, match="the task backwards has no check 'gqa'"):
        refuse_unknown_checks(named(workspace, "purity", "gqa"), "backwards")


def test_a_task_that_is_not_installed_has_no_checks_to_be_held_against(workspace: Workspace) -> None:
    refuse_unknown_checks(named(workspace, "incremental_equals_full", "of_its_own"), "chess")


def test_a_task_of_others_that_cannot_be_imported_is_no_fault_of_the_rubric(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_tui.checks.errors import EngineError

    def broken(name: str) -> None:
        raise EngineError(f"task '{name}' cannot be imported")

    monkeypatch.setattr("judge_tui.checks.task.load_task", broken)
    refuse_unknown_checks(named(workspace, "incremental_equals_full", "of_its_own"), "theirs")


def test_a_screen_is_told_of_all_of_them_by_what_its_engine_plans(workspace: Workspace) -> None:
    path = workspace.rubric_path("kv")
    assert unknown_checks(path, "kv", {"incremental_equals_full", "gqa"}) == ()
    assert [error.line for error in unknown_checks(path, "kv", {"gqa"})] == [10, 23]
    path.unlink()
    assert unknown_checks(path, "kv", ()) == ()


def test_a_shipped_rubric_names_only_checks_that_its_task_has() -> None:
    from importlib.util import find_spec

    spec = find_spec("judge_tui.rubrics")
    assert spec is not None
    folder = Path(next(iter(spec.submodule_search_locations or ())))
    from judge_tui.checks.task import load_task

    for task in default_tasks():
        assert unknown_checks(folder / f"{task}.toml", task, load_task(task).by_id) == ()
