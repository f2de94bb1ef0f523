"""demo: a workspace that is judged as it says, made from the package alone, and never over anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.events import Finished
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import run
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.workspace import Workspace

Cli = Callable[..., Any]

#: Task → what is asked there (everything, where nothing is named), and who fails which of it.
KNOWN: dict[str, tuple[tuple[str, ...], dict[str, set[str]]]] = {
    "cosine": (
        ("accuracy", "edge_cases", "property_length_does_not_count"),
        {
            "amber": set(),
            "birch": {"accuracy", "edge_cases", "property_length_does_not_count"},
            "cedar": {"edge_cases"},
        },
    ),
    "lru": (
        (),
        {"amber": {"test_a_value_may_be_empty"}, "birch": set(), "cedar": {"test_writing_again_is_a_use"}},
    ),
    "meetings": ((), {"amber": {"within"}, "birch": {"none"}, "cedar": set()}),
    "kv": (
        ("incremental_equals_full", "variable_lengths", "isolation"),
        {"amber": set(), "birch": {"variable_lengths", "isolation"}},
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.quick
@pytest.mark.parametrize("task", KNOWN)
def test_each_answer_is_judged_as_the_demo_says(cli: Cli, here: Path, task: str) -> None:
    assert cli("demo").code == 0
    workspace = Workspace.at(here / "judge-tui-demo")
    checks, known = KNOWN[task]
    assert {model for model in workspace.models() if task in workspace.submitted(model)} == set(known)
    asked = tuple(RequestedSubmission.of(workspace.submission(model, task)) for model in known)
    request = Request(task, asked, checks=checks, challenge=workspace.challenge(task))
    failed: dict[str, set[str]] = {model: set() for model in known}
    for event in run(request):
        if isinstance(event, Finished):
            outcome = event.outcome
            assert outcome.verdict in (Verdict.PASS, Verdict.SKIP, Verdict.FAIL), outcome.summary
            failed[outcome.model] |= {outcome.check} if outcome.verdict == Verdict.FAIL else set()
    assert failed == known


def test_without_a_terminal_it_says_what_there_is(cli: Cli, here: Path) -> None:
    told = cli("demo", "try me").out
    assert "cd 'try me'" in told
    assert all(task in told for task in KNOWN)
    assert "cosine" in cli("--workspace", here / "try me").out


def test_on_a_terminal_home_is_opened(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    monkeypatch.setattr("judge_tui.cli.demo.on_screen", lambda: True)
    monkeypatch.setattr("judge_tui.cli.demo.show", lambda workspace: opened.append(workspace.root) or 0)
    assert cli("demo").code == 0
    assert opened == [here / "judge-tui-demo"]


def test_an_earlier_demo_is_opened_as_it_is(cli: Cli, here: Path) -> None:
    cli("demo")
    changed = here / "judge-tui-demo" / "submissions" / "amber" / "cosine" / "cosine.py"
    changed.write_text("mine\n")
    again = cli("demo")
    assert again.code == 0
    assert "the demo of before" in again.out
    assert changed.read_text() == "mine\n"


@pytest.mark.parametrize("there", ["notes.txt", "judge-tui.toml"])
def test_a_folder_that_holds_something_else_is_refused(cli: Cli, here: Path, there: str) -> None:
    (here / "mine").mkdir()
    (here / "mine" / there).write_text('title = "mine"\n')
    ended = cli("demo", "mine")
    assert ended.code == 2
    assert "mine: is not empty" in ended.err
    assert [path.name for path in (here / "mine").iterdir()] == [there]


def test_the_current_folder_will_do_where_it_is_empty(cli: Cli, here: Path) -> None:
    told = cli("demo", ".")
    assert told.code == 0
    assert "cd " not in told.out
    assert sorted(path.name for path in here.iterdir()) == [
        "README.md",
        "challenges",
        "judge-tui.toml",
        "submissions",
    ]
