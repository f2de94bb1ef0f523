"""Why the submission's own target decodes otherwise with trees: where its nodes stand, or what they see."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.dflash_verify import TASK

MUTANTS = Path(__file__).parent / "mutants"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("own_target_counts_nodes", "position is its place in the list and not its depth"),
        ("own_target_sees_all_before", "it sees nodes that the mask hides"),
    ],
)
def test_positions_by_the_list_are_told_from_a_mask_that_is_not_used(
    tmp_path: Path, name: str, why: str
) -> None:
    folder = tmp_path / name / TASK.id
    folder.mkdir(parents=True)
    (folder / "verify.py").write_bytes((MUTANTS / f"{name}.py").read_bytes())
    outcome = judge(TASK, Submission.at(folder), seed=5, checks=["golden"])["golden"]
    assert why in outcome.summary
