"""Plain answers without an end are met with a bound on what is looked at, and not with one on time."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Together

CHALLENGE = """
def reference(words): return list(reversed(words))
def inputs(rng): return {"words": ["a", "bc"]}
"""
ANSWERS = {
    "holds_itself": "def double(words):\n    a = []\n    a.append(a)\n    return a\n",
    "never_ends": """
class Endless(list):
    def __iter__(self):
        while True: yield 1
def double(words): return Endless()
""",
    "doubles": """
def double(words):
    a = []
    for _ in range(60): a = [a, a]
    return a
""",
    "is_long": "def double(words): return [0] * 10**7\n",
}


def test_answers_without_an_end_take_no_time(together: Together) -> None:
    found = together(CHALLENGE, ANSWERS)
    assert {each.verdict for each in found.values()} == {Verdict.FAIL}, found
    assert "of more than 200,012 parts" in found["doubles"].summary
    assert "that holds itself" in found["holds_itself"].summary
    assert not [each for each in found.values() if "budget" in each.summary]
