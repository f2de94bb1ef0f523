"""Names of a challenge.py: where they stand, and what a misspelt one was meant to be."""

from __future__ import annotations

import pytest

from judge_tui.checks.challenges.written import Written


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("CASE = 3", "CASES"),
        ("cases = 3", "CASES"),
        ("CASES_ = 3", "CASES"),
        ("TOLERENCE: float = 3", "TOLERANCE"),
        ("GRADIENT = ['x']", "GRADIENTS"),
        ("def gradient(dout, x): pass", "gradients"),
        ("def Reference(x): pass", "reference"),
        ("def propery_sum(call, rng): pass", "property_…"),
        ("if True:\n    def edge_case(rng): pass", "edge_cases"),
        ("def property_sum(call, rng): pass", ""),
        ("_CASES = 3", ""),
        ("cases = [3]\nCASES = cases[:2]", ""),
        ("def helper(x):\n    case = 3\n    return 2", ""),
        ("def f(:", ""),
    ],
)
def test_a_name_that_nothing_reads_and_that_is_nearly_known_is_told(text: str, meant: str) -> None:
    assert [each[2] for each in Written(text.encode()).misspelt()] == ([meant] if meant else [])


def test_a_message_is_about_the_first_name_in_it_that_is_written_there() -> None:
    written = Written(b"x = 1\n\ndef property_a(call, rng): pass\nCASES = 3\n")
    assert written.about("property_a does not hold in CASES") == 3
    assert written.about("reference gives x, CASES say") == 4
    assert written.about("x is nothing") is None
