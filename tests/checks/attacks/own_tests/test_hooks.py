"""What a submission's conftest does to pytest makes no failing test pass, and costs an honest one nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome, Verdict

FOLDER = Path(__file__).parent
HOSTILE, TWINS = (sorted((FOLDER / kind).glob("*.py")) for kind in ("hostile", "twins"))
CODE = """
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}
"""
TESTS = """
import unittest

import numpy as np
import pytest
from code_ import scale_forward

OFF = 1.0


def test_right():
    assert scale_forward(2.0, 3.0)[0] == 6.0


def test_number():
    assert scale_forward(2.0, 3.0)[0] == 6.0 + OFF


@pytest.mark.parametrize("x", [1.0, 2.0])
def test_array(x):
    assert np.allclose(scale_forward(np.full(3, x), 2.0)[0], 2.0 * x + OFF)


@pytest.mark.gpu
def test_on_a_gpu():
    assert OFF == 7.0


class ScaleCase(unittest.TestCase):
    def test_case(self):
        self.assertEqual(scale_forward(2.0, 3.0)[0], 6.0 + OFF)
"""
Submit = Callable[..., Submission]


def own(scale: Task, submission: Submission) -> Outcome:
    return judge(scale, submission, seed=1, checks=["own_tests"])["own_tests"]


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_no_conftest_makes_failing_tests_pass(path: Path, scale: Task, submitted: Submit) -> None:
    files = {"code_.py": CODE, "test_it.py": TESTS, "conftest.py": path.read_text()}
    outcome = own(scale, submitted(files))
    assert outcome.verdict in (Verdict.WARN, Verdict.FAIL), outcome
    told = " ".join(f"{item.quantity} {item.measured}" for item in outcome.evidence if item.ok is False)
    assert all(name in told for name in ("test_number", "test_array[1.0]", "test_case")), told


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_an_honest_conftest_costs_no_pass(path: Path, scale: Task, submitted: Submit) -> None:
    right = TESTS.replace("OFF = 1.0", "OFF = 0.0")
    if path.stem == "fixtures":
        right = right.replace("def test_number():", "def test_number(size, counted, request):")
        right = right.replace("assert OFF == 7.0", "pytest.skip('no GPU here')")
    outcome = own(scale, submitted({"code_.py": CODE, "test_it.py": right, "conftest.py": path.read_text()}))
    assert outcome.verdict is Verdict.PASS, outcome
    assert "1 skipped" in outcome.summary
