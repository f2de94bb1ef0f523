"""What is put off to when an answer is fetched is traced and counted with the call."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

PUT_OFF = """
import numpy as np


class Answer:
    def __init__(self, x, factor):
        self.x, self.factor, self.cache = x, factor, (x, factor)

    def compute(self):
        self.x = self.x + (np.ones((1000, 1000)) @ np.ones((1000, 2))).sum() * 0
        return self.x * self.factor

{way}

def scale(x, factor):
    return {answer}
"""
PROPERTY = "    @property\n    def y(self):\n        return self.compute()\n"
ARRAY = "    def __array__(self, dtype=None, copy=None):\n        return np.asarray(self.compute(), dtype)\n"
BINDING = '[binding.forward]\ntarget = "code.py:scale"\nreturns = {{y = "{}", cache = "{}"}}\n'
BACKWARD = (
    "\ndef scale_backward(dy, cache):\n    x, factor = cache\n    return dy * factor, (dy * x).sum(0)\n"
)
WAYS = {
    "property": (PROPERTY, "Answer(x, factor)", ".y", ".cache"),
    "array": (ARRAY, "(Answer(x, factor), (x, factor))", "[0]", "[1]"),
}


@pytest.mark.parametrize("way", WAYS)
def test_work_is_part_of_the_call_that_is_answered(
    way: str, scale: Task, submitted: Callable[..., Submission]
) -> None:
    text, answer, y, cache = WAYS[way]
    files = {"code.py": PUT_OFF.format(way=text, answer=answer) + BACKWARD}
    submission = submitted({**files, "submission.toml": BINDING.format(y, cache)})
    bench = Bench(submission, scale.contract, seed=1)
    x, factor = np.ones((3, 4)), np.full(4, 2.0)
    try:
        traced = bench.call("forward", x=x, factor=factor, memory=True)
        assert traced.result.counters["peak_bytes"] > 8e6
        counted = bench.call("forward", x=x, factor=factor, count=True)
        assert counted.result.counters["multiply_adds"] >= 2e6
        assert (counted.array("y", (3, 4)) == 2.0).all()
    finally:
        bench.close()
