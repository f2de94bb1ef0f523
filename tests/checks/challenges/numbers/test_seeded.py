"""SEED: who draws weights where it is made draws those of the reference."""

from __future__ import annotations

import pytest

from judge_tui.checks.verdict import Verdict

from .conftest import Judge

CHALLENGE = """
import random
import numpy as np
{seed}

class Layer:
    def __init__(self, width):
        self.weight = np.random.randn(width) + random.random()

def inputs(rng, width):
    return {{"x": rng.standard_normal((4, width)), "width": width}}

def reference(x, width):
    np.random.seed(5)
    random.seed(5)
    return x * Layer(width).weight

NAMES = ["forward"]
CASES = [dict(width=3), dict(width=8)]
"""
ANSWER = """
import random
import numpy as np

class Scaled:
    def __init__(self, width):
        self.w = np.random.randn(width) + random.random()

    def forward(self, x):
        return self.w * x
"""


@pytest.mark.parametrize(("seed", "verdict"), [("SEED = 5", Verdict.PASS), ("", Verdict.FAIL)])
def test_weights_are_the_references_where_a_seed_is_told(judged: Judge, seed: str, verdict: Verdict) -> None:
    found = judged(CHALLENGE.format(seed=seed), ANSWER, "accuracy", "purity")
    assert found["accuracy"].verdict is verdict, found["accuracy"].summary
    if seed:
        assert found["purity"].verdict is Verdict.PASS, found["purity"].summary


def test_a_seed_is_a_number(judged: Judge) -> None:
    found = judged(CHALLENGE.format(seed='SEED = "five"'), ANSWER, "accuracy")
    assert found["accuracy"].fault == "challenge"
    assert "SEED must be a whole number" in found["accuracy"].summary
