"""Calls that raise among others: what they have in common is told beside what the others show."""

from __future__ import annotations

from typing import Any

import pytest

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Raised
from judge_tui.checks.unanswered import Unanswered
from judge_tui.checks.verdict import Verdict


def tried(raises: Any, sizes: range) -> Unanswered:
    calls = Unanswered()
    for size in sizes:
        with calls.trying({"N": size}):
            if raises(size):
                raise Raised("IndexError", "out of bounds", file="solution.py", line=7)
    return calls


def test_sizes_at_which_calls_raise_are_told_beside_what_the_others_show() -> None:
    found = Findings()
    found.claim("O is right", True)
    told = tried(lambda size: size > 12, range(1, 41)).tell(found, "float64 1e-15 of the reference")
    assert told.startswith("the submission raised IndexError: out of bounds (solution.py:7)")
    assert "answers up to N = 12, raises from N = 13 on" in told
    assert told.endswith("otherwise float64 1e-15 of the reference")
    assert found.verdict is Verdict.FAIL


def test_what_is_wrong_besides_comes_first() -> None:
    found = Findings()
    found.claim("O is right", False)
    told = tried(lambda size: size == 5, range(1, 9)).tell(found, "O is 2 off")
    assert told.startswith("O is 2 off; and the submission raised")
    assert told.endswith("(in 1 of 8 calls)")


def test_where_every_call_raises_the_first_one_ends_the_check() -> None:
    with pytest.raises(Raised):
        tried(lambda size: True, range(1, 9))
    with pytest.raises(Raised):
        tried(lambda size: size < 3, range(1, 3)).needed([])


def test_where_nothing_raises_nothing_is_told() -> None:
    found = Findings()
    assert tried(lambda size: False, range(1, 9)).tell(found, "right") == "right"
    assert found.verdict is None
