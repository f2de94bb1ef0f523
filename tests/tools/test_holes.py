"""The machine that edits right submissions: what it edits, what it sees, and a fixed part without a hole."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from judge_tui.checks.paths.counting import counting
from judge_tui.checks.repair.slips import edits
from tools.holes.machine import ALIKE, CAUGHT, HOLE, Found, Right, tried

SOURCE = dedent('''
    """A module."""
    from __future__ import annotations

    import numpy as np


    def mean_of(x, axis=0):
        """Its mean."""
        out = np.zeros_like(x[0])
        for i in range(1, len(x)):
            if i > 0 and axis == 0:
                out += x[i].copy()
        return out / len(x)


    def test_mean_of():
        assert mean_of([1, 2]) == 1.5


    if __name__ == "__main__":
        test_mean_of()
''')
FAMILIES = Path(__file__).parents[1] / "checks/tasks"


@pytest.mark.parametrize(
    "said",
    [
        "8: off by one: 0 → 1",
        "10: another function: np.zeros_like → np.ones_like",
        "10: aliased: np.zeros_like(x[0]) → x[0]",
        "11: one turn less: range(1, len(x)) → list(range(1, len(x)))[:-1]",
        "12: comparison: i > 0 → (i >= 0)",
        "12: and for or: i > 0 and axis == 0 → (i > 0 or axis == 0)",
        "12: condition dropped: i > 0 and axis == 0 → False",
        "13: assigned, not added: out += x[i].copy() → out = x[i].copy()",
        "13: not called: x[i].copy() → x[i]",
        "13: stale index: i → (i - 1)",
        "14: operator: out / len(x) → (out * len(x))",
    ],
)
def test_slips_are_made(said: str) -> None:
    assert said in [str(edit) for edit in edits(SOURCE)]


def test_an_edit_is_in_one_place_and_what_is_no_answer_is_left_alone() -> None:
    for edit in edits(SOURCE):
        before, after = SOURCE.splitlines(), edit.source.splitlines()
        assert [
            number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]
        ] == [edit.line]
        assert edit.line < 16


def test_lines_that_run_are_counted_and_nothing_else_changes() -> None:
    made: dict[str, object] = {"__name__": "counted"}
    exec(counting(SOURCE), made)
    assert made["__doc__"] == "A module."
    assert made["_lines_that_ran"] == [5, 8, 17, 21]
    assert made["mean_of"](np.array([1.0, 3.0])) == 1.5  # type: ignore[operator]
    assert made["_lines_that_ran"] == [5, 8, 17, 21, 10, 11, 12, 13, 14]


@pytest.fixture(scope="module")
def found() -> list[Found]:
    right = Right("backwards", "closure", FAMILIES / "backwards/twins/closure.py")
    return list(tried(right, edits_each=8, seed=5))


@pytest.mark.thorough
@pytest.mark.xdist_group("holes")
def test_a_fixed_part_holds_no_hole(found: list[Found]) -> None:
    assert len(found) == 8
    assert [one for one in found if one.end == HOLE] == []


@pytest.mark.thorough
@pytest.mark.xdist_group("holes")
def test_what_is_caught_is_told_and_what_is_alike_is_not(found: list[Found]) -> None:
    caught = [one for one in found if one.end == CAUGHT]
    assert caught
    assert all(one.by and one.difference for one in caught)
    assert not any(one.by or one.difference for one in found if one.end == ALIKE)
