"""What the binder finds in this repository's submissions; specimens are held where they are judged."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from judge_tui.checks.bound import searched
from judge_tui.checks.faults import Fault
from judge_tui.checks.specimens import specimens
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task, task_names

from . import goldens

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SUBMISSIONS = sorted(folder for folder in (ROOT / "submissions").glob("*/*") if folder.name in task_names())


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_a_submission_of_this_repository_is_bound_as_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    task = folder.name
    with goldens.searches(monkeypatch) as search, suppress(Fault):
        searched(load_task(task), Submission.at(folder, bindings=ROOT / "bindings"), seed=1)
    goldens.held(search, task, f"submissions/{folder.parent.name}", record_property)


@pytest.mark.parametrize("task", task_names())
def test_there_is_a_golden_for_each_submission_of_the_tests_and_for_nothing_else(task: str) -> None:
    known = tomllib.loads((goldens.HERE / f"{task}.toml").read_text())
    kinds = {True: "mutants", False: "twins"}
    names = {f"{kinds[each.wrong]}/{each.name}" for each in specimens(HERE / "tasks" / task, load_task(task))}
    names |= {f"submissions/{folder.parent.name}" for folder in SUBMISSIONS if folder.name == task}
    if (written := HERE / "spellings" / task).is_dir():
        names |= {f"spellings/{path.stem}" for path in written.iterdir() if path.name[0] not in "._"}
    assert {*known} == names
