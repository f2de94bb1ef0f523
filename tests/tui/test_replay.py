"""The command that replays an outcome: whole, quoted, and copied by a key."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.cli.root import root
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.engine.replay import prompt_command, replay_command, where_told
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.screens.evidence import evidence_lines

from .conftest import make_app, running


@pytest.mark.parametrize("model", ["a b'; rm -rf", "--help", "-x $(id)"])
def test_the_command_is_one_that_the_command_line_takes(model: str) -> None:
    outcome = Outcome(model, "kv", "gqa", Verdict.FAIL, "s", 1.0, seed=7, backend="cpu")
    words = shlex.split(replay_command(outcome, ("--trust",)))
    assert words[:2] == ["judge-tui", "check"]
    command = root.get_command(None, "check")
    context = command.make_context("check", words[2:], resilient_parsing=True)
    assert context.params["models"] == (model,)
    assert context.params["seed"] == 7
    assert context.params["fresh"]
    assert context.params["trust"]
    assert context.params["checks"] == ("gqa",)


@pytest.mark.parametrize("model", ["a b'; rm -rf", "--help"])
def test_what_prints_an_adapter_s_prompt_is_one_that_the_command_line_takes(model: str) -> None:
    outcome = Outcome(model, "kv", "gqa", Verdict.UNBOUND, "s", 1.0, seed=7, backend="cpu")
    words = shlex.split(prompt_command(outcome))
    command = root.get_command(None, "bind")
    context = command.make_context("bind", words[2:], resilient_parsing=True)
    assert (context.params["model"], context.params["task"]) == (model, "kv")
    assert context.params["prompt"]


async def test_an_unbound_check_leads_to_what_an_adapter_is_written_from(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        tones = tones_of(app.app)
        told = {
            verdict: "".join(
                text
                for spans, _place in evidence_lines(
                    Outcome("beta", "kv", "gqa", verdict, "s", 1.0, seed=7, backend="cpu"), 90, tones
                )
                for text, _style in spans
            )
            for verdict in (Verdict.UNBOUND, Verdict.FAIL)
        }
    assert "judge-tui bind beta --task kv --prompt" in told[Verdict.UNBOUND]
    assert "--prompt" not in told[Verdict.FAIL]


def test_it_says_where_the_submissions_are_unless_they_are_found_anyway(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path)
    assert where_told(workspace, cwd=tmp_path / "scores") == ()
    assert where_told(workspace, cwd=Path("/")) == ("--workspace", str(tmp_path))
    other = Workspace.at(tmp_path, submissions=tmp_path / "theirs")
    told = where_told(other, tmp_path / "b", trust=True, cwd=tmp_path)
    assert told == ("--submissions", str(tmp_path / "theirs"), "--bindings", str(tmp_path / "b"), "--trust")


async def test_a_key_copies_it_from_the_evidence(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.root)
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("c", "enter")
        line = "judge-tui check beta --task kv --check accuracy --seed 7 --backend cpu --fresh"
        assert f"Replay: {line}" in app.text()
        await app.press("y")
        assert app.app.clipboard == line
