"""From which length on answers are wrong."""

from __future__ import annotations

import pytest

from judge_tui.checks.tasks.kv.incremental_equals_full.turning import from_where, turning


@pytest.mark.parametrize(("right", "first", "bad"), [(4, 33, 66), (1, 2, 70), (8, 66, 66), (1, 65, 83)])
def test_the_first_wrong_length_is_found_with_few_questions(right: int, first: int, bad: int) -> None:
    asked = []

    def wrong(length: int) -> bool:
        asked.append(length)
        return length >= first

    assert turning(wrong, right, bad) == first
    assert len(asked) <= 7


def test_a_length_that_is_wrong_alone_is_told_so() -> None:
    assert from_where(lambda length: length >= 33, 4, 66) == (33, "right up to 32 tokens, wrong from 33 on")
    assert from_where(lambda length: length == 16, 1, 31) == (16, "right up to 15 tokens, wrong at 16")
    assert from_where(lambda length: length > 1, 1, 9) == (2, "right up to 1 token, wrong from 2 on")
