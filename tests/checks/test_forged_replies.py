"""20,000 forged replies, to all that the checks of all tasks ask, break no engine."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task
from judge_tui.checks.verdict import Verdict

from .forging import Conversation, Forger

FOLDER = Path(__file__).parent / "tasks"
#: Those whose checks ask a worker; of the rest a program's report is read.
TASKS = (
    *("backwards", "beam_search", "dflash_verify", "flash_attention", "flash_attention_bwd"),
    *("kv", "ternary_training"),
)
MANY, PARTS = 20_000, 10
#: Replies that are forged: few, so that what comes late is met too, or many.
SHARES = (0.02, 0.1, 0.3)
#: Right submissions of a task that are judged, the smallest; pairs of one and a check; seconds of each.
SPECIMENS, PAIRS, BUDGET = 6, 5, 8.0
#: Of the inputs.
SEED = 3


def twins(task: Task, folder: Path) -> list[Submission]:
    """Small right submissions of a task."""
    files = sorted((FOLDER / task.id / "twins").glob("*.py"), key=lambda path: path.stat().st_size)
    found = []
    for path in files[:SPECIMENS]:
        (folder / path.stem / task.id).mkdir(parents=True)
        shutil.copy(path, folder / path.stem / task.id)
        found.append(Submission.at(folder / path.stem / task.id))
    return found


class Said:
    """What is judged: right submissions of a task, and what their workers said to each of its checks."""

    def __init__(self, task: Task, folder: Path) -> None:
        self.task = replace(task, checks=tuple(replace(c, budget=min(c.budget, BUDGET)) for c in task.checks))
        self.submissions = twins(task, folder)
        self._conversations: dict[tuple[str, str], Conversation] = {}

    def conversation(self, submission: Submission, check: str) -> Conversation:
        """What is said when nobody forges; asked for once."""
        key = submission.model, check
        if key not in self._conversations:
            self._conversations[key] = Conversation()
            with self._conversations[key].kept():
                judge(self.task, submission, seed=SEED, checks=[check])
        return self._conversations[key]


def broken(task: Task, folder: Path, part: int, count: int) -> Iterator[str]:
    """What broke an engine while so many replies were forged."""
    said, rng, left = Said(task, folder), random.Random(part), count
    chosen = list(itertools.product(said.submissions, [check.id for check in said.task.checks]))
    chosen = rng.sample(chosen, min(len(chosen), PAIRS))
    for seed in itertools.count(part * 100_000):
        submission, check = rng.choice(chosen)
        conversation, forger = said.conversation(submission, check), Forger(seed, rng.choice(SHARES))
        with conversation.again(forger):
            outcome = judge(said.task, submission, seed=SEED, checks=[check])[check]
        if outcome.verdict is Verdict.ERROR:
            yield f"{task.id} {submission.model} {check} seed {seed}: {outcome}"
        left -= forger.forged
        if left <= 0:
            return


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", TASKS)
def test_no_forged_reply_of_thousands_breaks_the_engine(name: str, part: int, tmp_path: Path) -> None:
    assert not list(broken(load_task(name), tmp_path, part, MANY // (PARTS * len(TASKS)) + 1))


@pytest.mark.parametrize("name", TASKS)
def test_no_forged_reply_of_some_breaks_the_engine(name: str, tmp_path: Path) -> None:
    assert not list(broken(load_task(name), tmp_path, PARTS, 5))
