"""What is said of a mask that is wrong: where, and whether it is so by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.dflash_verify import TASK

MUTANTS = Path(__file__).parent / "mutants"


@pytest.mark.parametrize(("name", "alone"), [("mask_kept_by_size", True), ("node_blind_to_itself", False)])
def test_a_mask_that_is_wrong_after_others_alone_says_so(tmp_path: Path, name: str, alone: bool) -> None:
    folder = tmp_path / name / TASK.id
    folder.mkdir(parents=True)
    (folder / "verify.py").write_bytes((MUTANTS / f"{name}.py").read_bytes())
    outcome = judge(TASK, Submission.at(folder), seed=5, checks=["tree_mask"])["tree_mask"]
    assert outcome.summary.startswith("wrong in ")
    assert ("right in a process of its own" in outcome.summary) == alone
