"""What is said of a fault, in the room that there is."""

from __future__ import annotations

import pytest

from judge_tui.checks.faults import Fault


@pytest.mark.parametrize(
    ("message", "most", "said"),
    [
        ("raised ValueError", 17, "raised ValueError"),
        ("raised ValueError", 16, "raised ValueErr…"),
        ("a b c", 3, "a…"),
    ],
)
def test_a_clause_that_is_cut_says_so(message: str, most: int, said: str) -> None:
    assert Fault(message).brief(most) == said
