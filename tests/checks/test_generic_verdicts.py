"""The generic checks give an honest reader's verdict on wrong code and on right code of an unusual kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.calling.own_time import Account
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Verdict

FOLDER = Path(__file__).parent / "generic"
MUTANTS, TWINS = (
    sorted(path for path in (FOLDER / kind).iterdir() if path.name != "__pycache__")
    for kind in ("mutants", "twins")
)
HEADERS = {"fails": "fail", "warns": "warn", "unbound": "unbound", "skips": "skip"}
CAN_FAIL = ("loads", "own_tests", "purity")


def files(path: Path) -> dict[str, bytes]:
    """A specimen's files by their relative paths: a file alone, or all of a folder."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    found = (file for file in sorted(path.rglob("*")) if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in found}


def head(path: Path) -> dict[str, str]:
    text = b"\n".join(files(path).values()).decode(errors="replace")
    return dict(re.findall(r"^# (\w+): (.*)$", text, re.M))


def expected(path: Path) -> Iterator[tuple[str, str]]:
    for key, verdict in HEADERS.items():
        for check in filter(None, re.split(r",\s*", head(path).get(key, ""))):
            yield check, verdict


def hurried(task: Task, budget: float) -> Task:
    """The same task with little time, for what never ends."""
    return replace(task, checks=tuple(replace(check, budget=budget) for check in task.checks))


@pytest.mark.parametrize("path", MUTANTS, ids=lambda path: path.stem)
def test_a_mutant_is_caught_and_told(
    path: Path,
    scale: Task,
    submitted: Callable[..., Submission],
    monkeypatch: pytest.MonkeyPatch,
    accounts: list[Account],
) -> None:
    if budget := float(head(path).get("budget", 0)):
        monkeypatch.setattr("judge_tui.checks.binding.settling._PROBE_BUDGET", budget / 3)
        scale = hurried(scale, budget)
    wanted = dict(expected(path))
    outcomes = judge(scale, submitted(files(path)), seed=5)
    assert wanted
    assert {check: outcomes[check].verdict for check in wanted} == wanted
    assert all(outcome.verdict is not Verdict.ERROR for outcome in outcomes.values())
    told = "\n".join(outcomes[check].summary for check in wanted)
    assert head(path)["says"] in told
    assert all("\n" not in outcome.summary for outcome in outcomes.values())
    assert not budget or max(account.spent for account in accounts) < budget + 1


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_a_twin_passes(path: Path, scale: Task, submitted: Callable[..., Submission]) -> None:
    submission = submitted(files(path))
    # This task states no size to be timed at; ``test_throughput`` has one that does.
    checks = [check.id for check in scale.checks if check.id != "throughput"]
    outcomes = judge(scale, submission, seed=5, checks=checks)
    assert {check: outcome.summary for check, outcome in outcomes.items() if outcome.verdict != "pass"} == {}
    assert head(path).get("says", "") in outcomes["own_tests"].summary


def test_every_check_that_can_fail_has_enough_mutants() -> None:
    caught = [check for path in MUTANTS for check, verdict in expected(path) if verdict in ("fail", "warn")]
    assert {check: caught.count(check) >= 4 for check in CAN_FAIL} == dict.fromkeys(CAN_FAIL, True)
    assert len(TWINS) >= 3
