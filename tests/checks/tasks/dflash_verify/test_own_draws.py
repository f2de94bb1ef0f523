"""Some of the draws are about sizes that the source names, and none where it names none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.sizes import Sizes
from judge_tui.checks.source_integers import Integer
from judge_tui.checks.tasks.dflash_verify.own_draws import AXES, about


def bench(*integers: int) -> Any:
    """What is asked of a bench, with a source of such integers, all of which decide a path."""
    return SimpleNamespace(
        integers=tuple(Integer(value, "tree.py", line, 2) for line, value in enumerate(integers, 1)),
        rng=lambda *about: np.random.default_rng(7),
        sizes=lambda *about: Sizes(np.random.default_rng(8)),
    )


@pytest.mark.parametrize("axis", AXES)
def test_an_integer_itself_and_one_more_come_first(axis: str) -> None:
    found = about(bench(40), "draws", 4, axis)
    assert sorted(one.at[axis] for one in found.values()) == [40, 41]
    assert {one.why for one in found.values()} == {f"{axis} about 40, which tree.py:1 has"}


def test_at_most_half_of_the_draws_are_and_each_is_one_of_them() -> None:
    found = about(bench(14, 20, 33, 48), "draws", 9, *AXES)
    assert len(found) == 4
    assert set(found) <= set(range(9))
    assert len(about(bench(14, 20, 33, 48), "draws", 9, *AXES, most=6)) == 6


def test_where_the_source_names_none_nothing_changes() -> None:
    assert about(bench(), "draws", 9, *AXES) == {}
    # neither do those that others draw anyway, and those that no axis has
    assert about(bench(2, 1 << 19), "draws", 9, *AXES) == {}
