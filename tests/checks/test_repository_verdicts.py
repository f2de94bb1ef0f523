"""The verdicts on the submissions of this repository, which README and docs show: none changes unseen.

``repository_verdicts.toml`` says of each what does not pass; every other check of its task does.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.specimens import common_place
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task, task_names

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SUBMISSIONS = sorted(folder for folder in (ROOT / "submissions").glob("*/*") if folder.name in task_names())
KNOWN = tomllib.loads((HERE / "repository_verdicts.toml").read_text())
#: What hangs on how busy the machine is.
NOISY = {"throughput"}
#: Of the other tasks the tests of each task judge what is here.
OFTEN = "kv"


def test_every_submission_is_known_and_no_other() -> None:
    assert {(task, model) for task, models in KNOWN.items() for model in models} == {
        (folder.name, folder.parent.name) for folder in SUBMISSIONS
    }


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(
            folder,
            id=f"{folder.parent.name}-{folder.name}",
            marks=() if folder.name == OFTEN else pytest.mark.campaign,
        )
        for folder in SUBMISSIONS
    ],
)
def test_a_submission_of_this_repository_is_judged_as_before(folder: Path) -> None:
    task = load_task(folder.name)
    submission = Submission.at(folder, bindings=ROOT / "bindings")
    checks = [check.id for check in task.checks if check.id not in NOISY]
    outcomes = judge(task, submission, seed=4, checks=checks, place=common_place(task))
    told = {check: str(outcome.verdict) for check, outcome in outcomes.items() if outcome.verdict != "pass"}
    known = KNOWN[folder.name][folder.parent.name]
    assert told == known, {check: outcomes[check].summary for check in told.keys() ^ known.keys()}
