"""NAMES may name a class and its method: where it is there, nothing else is the answer."""

from __future__ import annotations

import pytest

from judge_tui.checks.verdict import Verdict

from .conftest import Judge

CHALLENGE = """
import numpy as np

def inputs(rng, rows):
    return {"x": rng.standard_normal(rows)}

def reference(x):
    return 2 * x

NAMES = ["ModelNew.forward"]
CASES = [dict(rows=6)]
"""
RIGHT = "class Model:\n    def forward(self, x):\n        return x + x\n\n"
WRONG = "class ModelNew:\n    def forward(self, x):\n        return x + x + 0.01\n\n"
RAISES = "class ModelNew:\n    def forward(self, x):\n        return x.nothing()\n\n"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (RIGHT + WRONG, Verdict.FAIL),
        (WRONG + RIGHT, Verdict.FAIL),
        (RIGHT + WRONG.replace("+ 0.01", ""), Verdict.PASS),
        (RIGHT, Verdict.PASS),
    ],
    ids=["behind", "before", "right", "alone"],
)
def test_the_class_that_is_named_is_judged(judged: Judge, answer: str, verdict: Verdict) -> None:
    assert judged(CHALLENGE, answer, "accuracy")["accuracy"].verdict is verdict


def test_no_other_stands_in_for_one_that_raises(judged: Judge) -> None:
    assert judged(CHALLENGE, RIGHT + RAISES, "accuracy")["accuracy"].verdict is not Verdict.PASS
