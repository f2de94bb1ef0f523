"""Arrays of bytes and half precision cross whole, whatever stands in them."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Judge

CHALLENGE = """
import numpy as np

def inputs(rng):
    return {"x": rng.integers(0, 256, 300_000, np.uint8), "h": rng.integers(0, 2**16, 70_000, np.uint16)}

def reference(x, h):
    return 255 - x, h + np.uint16(1)
"""
ANSWER = "def double(x, h):\n    return ~x, h + h.dtype.type(1)\n"


def test_a_byte_that_is_the_fillings_by_chance_was_written(judged: Judge) -> None:
    found = judged(CHALLENGE, ANSWER, "accuracy")["accuracy"]
    assert found.verdict is Verdict.PASS, found.summary
