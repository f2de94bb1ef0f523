"""A challenge of sixteen lines judges the answers of writing-a-task.md as its package does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.task import made
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission

EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "rms_norm"
#: What is judged in every tier but ``quick``.
OFTEN = ("no_projection", "layer")
CHALLENGE = '''\
"""RMS normalisation with its gradients: rows of x (B, D) scaled to unit mean square, times gain (D,)."""
import numpy as np

NAMES = ["rms_norm", "forward", "RMSNorm"]
ALIASES = {"x": ["inputs", "rows"], "gain": ["gamma", "weight"], "eps": ["epsilon"]}
GRADIENTS = ["x", "gain"]
CASES = [dict(rows=6, width=5), dict(rows=1, width=1), dict(rows=3, width=40)]


def reference(x, gain, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain


def inputs(rng, rows, width):
    x = np.sqrt(1e-3) * 10.0 ** rng.uniform(-0.5, 2.0, (rows, 1)) * (1 + rng.standard_normal((rows, width)))
    return {"x": x, "gain": rng.uniform(1.2, 3.0, width), "eps": 1e-3}
'''


@pytest.mark.thorough
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[] if file.stem in OFTEN else pytest.mark.campaign, id=file.stem)
        for file in sorted(EXAMPLE.glob("[mt]*s/*.py"))
    ],
)
def test_mutants_fail_and_twins_pass(file: Path, tmp_path: Path) -> None:
    challenge, answer = tmp_path / "rms_norm", tmp_path / "answer"
    for folder in (challenge, answer):
        folder.mkdir()
    (challenge / "challenge.py").write_text(CHALLENGE)
    shutil.copy(file, answer)
    task = made(Challenge("rms_norm", str(challenge)))
    outcomes = judge(
        task, Submission("it", "rms_norm", answer), seed=1, checks=["accuracy", "gradients"]
    )  # fmt: skip
    verdicts = {str(each.verdict) for each in outcomes.values()}
    told = [each.summary for each in outcomes.values()]
    assert verdicts == {"pass"} if file.parent.name == "twins" else "fail" in verdicts, told


def test_it_is_short_and_all_of_them_are_judged() -> None:
    assert len(CHALLENGE.splitlines()) <= 25
    assert len(list(EXAMPLE.glob("mutants/*.py"))) == 4
    assert len(list(EXAMPLE.glob("twins/*.py"))) == 3
