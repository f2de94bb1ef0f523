"""BENCH may hold sizes of gigabytes: what there is no room for is neither drawn nor held."""

from __future__ import annotations

from judge_tui.checks.challenges.numbers.truths import work_of
from judge_tui.checks.verdict import Verdict

from .conftest import Judge

CHALLENGE = """
import numpy as np

def inputs(rng, rows):
    if rows > 10**7:
        raise MemoryError("no room")
    return {"x": rng.standard_normal(rows)}

def reference(x):
    return 2 * x

CASES = [dict(rows=6)]
BENCH = [dict(rows=10**10), dict(rows=4 * 10**5), dict(rows=10**7 + 1)]
"""
ANSWER = "def double(x):\n    return x + x\n"


def test_sizes_of_gigabytes_are_not_drawn_to_be_held(judged: Judge) -> None:
    found = judged(CHALLENGE, ANSWER, "accuracy", "throughput")
    assert found["accuracy"].verdict is Verdict.PASS, found["accuracy"].summary
    assert found["throughput"].verdict is not Verdict.ERROR, found["throughput"].summary


def test_work_is_the_product_of_all_sizes() -> None:
    assert work_of({"batch": 3, "shape": (4, (5,)), "name": "x", "flag": True, "scale": 0.5}) == 60
    assert work_of({}) == 1
    assert work_of({"rows": 0, "width": 7}) == 7
