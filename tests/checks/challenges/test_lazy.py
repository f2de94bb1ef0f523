"""Lazy answers are what they say, in whatever the right one is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judge_tui.checks.challenges.lazy import lazy_answers
from judge_tui.checks.worker.border.codec import Record

ARRAY = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("right", [ARRAY, (ARRAY, ARRAY), Record("nt", "Top", {"values": ARRAY})])
def test_what_lacks_the_last_of_an_axis_lacks_it_in_every_part(right: Any) -> None:
    lazy = next(each for each in lazy_answers(right) if each.name == "without the last of axis 1")
    answer = lazy.answer(right, {}, right)
    if isinstance(answer, Record):
        answer = tuple(answer.fields.values())
    parts = answer if isinstance(answer, tuple) else (answer,)
    assert [part.shape for part in parts] == [(2, 2)] * len(parts)
