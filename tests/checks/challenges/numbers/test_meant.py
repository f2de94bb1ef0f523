"""Who has the name and the parameters of what is asked for, and raises however it is called, fails."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Together

CHALLENGE = """
def reference(words, times): return [word * times for word in words]
def inputs(rng): return {"words": ["a", "bc"], "times": int(rng.integers(1, 4))}
"""
BODIES = {
    "of_another_type": "return words[0] / times",
    "refuses": "raise ValueError('bad argument')",
    "divides": "return 1 // 0",
    "lacks": "return words.nothing",
    "unpacks": "a, b, c = words",
    "calls_wrongly": "return (lambda a: a)()",
}


def test_plain_data_that_ends_in_an_exception_fails(together: Together) -> None:
    answers = {name: f"def double(words, times):\n    {body}\n" for name, body in BODIES.items()}
    unlike = {"nobody_can_tell": "def other(first, second): return 1 // 0\n"}
    found = together(CHALLENGE, {**answers, **unlike})
    assert found.pop("nobody_can_tell").verdict is Verdict.UNBOUND
    assert {each.verdict for each in found.values()} == {Verdict.FAIL}, found
    assert "however it is called (answer.py:2)" in found["divides"].summary
