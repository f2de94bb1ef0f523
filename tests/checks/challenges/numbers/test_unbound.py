"""Where nothing is bound, one sentence says what was looked for, and what was seen."""

from __future__ import annotations

import pytest

from judge_tui.checks.verdict import Verdict

from .conftest import Judge

CHALLENGE = """
NAMES = ["scaled"]
def reference(x, gain, eps=1e-3): return gain * x + eps
def inputs(rng, n): return {"x": rng.standard_normal(n), "gain": rng.uniform(1.2, 3.0, n)}
CASES = [dict(n=3)]
"""
SOUGHT = "looked for what is called scaled, double, solution, solve or forward, or takes (x, gain, eps=…)"


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (
            "def other(a, b, c, d): return a\ndef another(z): return z",
            "saw answer.py:other(a, b, c, d), answer.py:another(z), of other names or parameters",
        ),
        ("N = 3", "saw no function or class"),
    ],
)
def test_what_was_looked_for_is_told_with_what_was_seen(judged: Judge, answer: str, seen: str) -> None:
    found = judged(CHALLENGE, answer, "accuracy")["accuracy"]
    assert found.verdict is Verdict.UNBOUND
    assert found.summary == f"no callable found for role 'solution': {SOUGHT}; {seen}"
