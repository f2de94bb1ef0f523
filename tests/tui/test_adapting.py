"""From a check to the judge's own adapter: skeleton, editor, and the checks again; or why it cannot be."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.app import SuspendNotSupported

from judge_tui.checks.errors import UsageError
from judge_tui.judging.workspace import Workspace
from judge_tui.tui import adapting
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.screens import adapter_writing
from judge_tui.tui.screens.waiting import Waiting

from .conftest import ENGINE, Driver, make_app, running

ROLE = "def attention(q, k, v):\n    return q\n"


def adapter_of(workspace: Workspace, model: str) -> Path:
    return workspace.root / "bindings" / model / "kv" / "adapter.py"


@pytest.fixture
def skeletons(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Models whose skeleton was asked for; it is there at once."""
    made: list[str] = []

    async def skeleton(workspace: Workspace, submission: Any, *, trust: bool) -> None:
        made.append(submission.model)
        path = adapter_of(workspace, submission.model)
        path.parent.mkdir(parents=True)
        path.write_text("# a skeleton\n")

    monkeypatch.setattr(adapter_writing, "skeleton", skeleton)
    return made


def edits(monkeypatch: pytest.MonkeyPatch, text: str) -> list[Sequence[str]]:
    """Have an editor append a text; the commands that opened it."""
    opened: list[Sequence[str]] = []

    def lend(_app: TypeAhead[Any], command: Sequence[str]) -> None:
        opened.append(command)
        with Path(command[-1]).open("a") as file:
            file.write(text)

    monkeypatch.setattr(TypeAhead, "lend_terminal", lend)
    monkeypatch.setenv("VISUAL", "my-editor --wait")
    return opened


async def checked(app: Driver) -> None:
    await app.until(lambda: len(app.compare.session.outcomes) == 6)
    # the rows stand behind the verdicts
    await app.settle()


async def test_a_check_leads_to_a_skeleton_an_editor_and_the_checks_again(
    workspace: Workspace, skeletons: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = edits(monkeypatch, ROLE)
    async with running(make_app(workspace)) as app:
        await checked(app)
        starts: list[dict[str, Any]] = []
        monkeypatch.setattr(app.compare.runner, "start", lambda **asked: starts.append(asked))
        await app.press("c", "e")
        await app.until(lambda: bool(starts))
        path = adapter_of(workspace, "beta")
        assert opened == [["my-editor", "--wait", str(path)]]
        assert path.read_text() == "# a skeleton\n" + ROLE
        # its verdicts were those of a submission without an adapter
        assert not any(name == "beta" for name, _check in app.compare.session.outcomes)
        await app.press("e")
        await app.until(lambda: len(opened) == 2)
        assert skeletons == ["beta"]


async def test_evidence_leads_there_as_well(
    workspace: Workspace, skeletons: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = edits(monkeypatch, ROLE)
    async with running(make_app(workspace)) as app:
        await checked(app)
        await app.press("c", "enter", "e")
        await app.until(lambda: bool(opened))
        assert app.app.screen is app.compare


async def test_an_adapter_that_is_left_as_it_was_runs_nothing_again(
    workspace: Workspace, skeletons: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    edits(monkeypatch, "")
    async with running(make_app(workspace)) as app:
        await checked(app)
        path = adapter_of(workspace, "beta")
        path.parent.mkdir(parents=True)
        path.write_text(ROLE)
        await app.press("c", "e")
        await app.until(lambda: f"{path} is as it was." in app.messages())
        assert len(app.compare.session.outcomes) == 6
        assert skeletons == []


async def test_waiting_for_the_skeleton_can_be_broken_off(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, ended = edits(monkeypatch, ROLE), []

    async def endless(*_: Any, **__: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    monkeypatch.setattr(adapter_writing, "skeleton", endless)
    async with running(make_app(workspace)) as app:
        await checked(app)
        await app.press("c", "e")
        await app.until(lambda: isinstance(app.app.screen, Waiting))
        await app.press("escape")
        await app.until(lambda: bool(ended) and app.app.screen is app.compare)
        assert opened == []


def refusing(error: Exception) -> Callable[..., None]:
    def refused(*_: Any, **__: Any) -> None:
        raise error

    return refused


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SuspendNotSupported(), "no editor can be opened here; "),
        (FileNotFoundError(2, "No such file"), "the editor 'my-editor' cannot be started: No such file; "),
    ],
)
async def test_without_a_terminal_or_an_editor_the_file_is_named(
    workspace: Workspace, skeletons: list[str], monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    monkeypatch.setenv("VISUAL", "my-editor")
    monkeypatch.setattr(TypeAhead, "lend_terminal", refusing(error))
    async with running(make_app(workspace)) as app:
        await checked(app)
        await app.press("c", "e")
        await app.until(lambda: any(message.startswith(told) for message in app.messages()))
        assert any(str(adapter_of(workspace, skeletons[0])) in message for message in app.messages())


async def test_a_skeleton_that_cannot_be_made_says_why(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = edits(monkeypatch, ROLE)

    async def refused(*_: Any, **__: Any) -> None:
        raise UsageError("nothing of the task 'kv' is called by roles.")

    monkeypatch.setattr(adapter_writing, "skeleton", refused)
    async with running(make_app(workspace)) as app:
        await checked(app)
        await app.press("c", "e")
        await app.until(lambda: "nothing of the task 'kv' is called by roles." in app.messages())
        assert opened == []


async def test_a_blind_comparison_opens_no_folder_with_a_name_in_it(
    workspace: Workspace, skeletons: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = edits(monkeypatch, ROLE)
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    options = EngineOptions(command=(sys.executable, "-c", ENGINE.replace("END", "")))
    async with running(JudgeApp(workspace, submissions, "anna", options, blind=True)) as app:
        await checked(app)
        await app.press("c", "e")
        await app.until(lambda: any("reveal the names first." in message for message in app.messages()))
        assert (opened, skeletons) == ([], [])


async def test_the_skeleton_is_made_by_the_command_and_its_words_are_told(workspace: Workspace) -> None:
    submission = workspace.submission("alpha", "kv")
    path = adapter_of(workspace, "alpha")
    path.parent.mkdir(parents=True)
    path.write_text(ROLE)
    with pytest.raises(UsageError, match="exists already and is never overwritten"):
        await adapting.skeleton(workspace, submission, trust=True)
    path.unlink()
    await adapting.skeleton(workspace, submission, trust=True)
    assert "# The submission defines:" in path.read_text()


def test_the_editor_is_the_judges_own_else_a_usual_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VISUAL", "'my editor' -n")
    assert adapting.editor() == ("my editor", "-n")
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", "ed")
    assert adapting.editor() == ("ed",)
    monkeypatch.delenv("EDITOR")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="no editor is here"):
        adapting.editor()
    (tmp_path / "vi").write_text("#!/bin/sh\n")
    (tmp_path / "vi").chmod(0o755)
    assert adapting.editor() == ("vi",)
