from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.rubric import default_rubric, default_tasks, half_up, load_rubric


def test_every_task_has_a_shipped_rubric_with_levels_caps_and_letters() -> None:
    assert len(default_tasks()) == 8
    for task in default_tasks():
        rubric = default_rubric(task)
        assert rubric.task == task
        assert rubric.digest.startswith("sha256:")
        assert all(set(d.levels) == {60, 75, 85, 95} for d in rubric.dimensions)
        assert len({d.key for d in rubric.dimensions}) == len(rubric.dimensions)
        assert rubric.caps
        assert rubric.letter(100) == "A"
        assert rubric.letter(0) == "F"


def test_a_task_without_a_shipped_rubric_says_where_to_write_one() -> None:
    with pytest.raises(UsageError, match=r"rubrics/chess\.toml"):
        default_rubric("chess")
    with pytest.raises(UsageError):
        default_rubric("../rubrics/kv")


@pytest.mark.parametrize(
    ("value", "whole"),
    [(92.5, 93), (92.49999999999999, 93), (0.5, 1), (1.5, 2), (2.5, 3), (88.333, 88), (100, 100)],
)
def test_halves_are_rounded_up(value: float, whole: int) -> None:
    assert half_up(value) == whole


@given(
    st.lists(
        st.tuples(st.integers(0, 100), st.sampled_from([0.1, 0.2, 0.3, 1.5, 4.5])), min_size=1, max_size=8
    )
)
def test_rounding_a_mean_is_off_by_half_a_point_at_most(entries: list[tuple[int, float]]) -> None:
    mean = sum(score * weight for score, weight in entries) / sum(weight for _, weight in entries)
    assert abs(half_up(mean) - mean) <= 0.5 + 1e-6


def test_a_level_is_the_highest_that_a_score_reaches(write: Callable[..., Path], rubric_text: str) -> None:
    dimension = load_rubric(write(rubric_text)).dimensions[0]
    assert dimension.level(None) is None
    assert dimension.level(59) is None
    assert dimension.level(84) == (60, "wrong")
    assert dimension.level(85) == (85, "right")


def test_a_cap_reads_and_and_or(write: Callable[..., Path], rubric_text: str) -> None:
    text = rubric_text.replace('"incremental_equals_full fails"', '"a fails and b warns or c passes"')
    rubric = load_rubric(write(text))
    assert rubric.caps_for({"a": Verdict.FAIL}) == ()
    # what a judge is told is what holds, not all that might
    [cap] = rubric.caps_for({"a": Verdict.FAIL, "b": "warn"})
    assert cap.when == "a fails and b warns"
    [cap] = rubric.caps_for({"c": Verdict.PASS})
    assert cap == replace(rubric.caps[0], when="c passes")
    assert rubric.caps_for({"a": Verdict.ERROR, "b": Verdict.WARN}) == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("weight = 3.0", "weight = 0", "above 0"),
        ("weight = 3.0", "weight = nan", "must be a number"),
        ("weight = 3.0", "weight = 1e308", "must not be above 1,000,000,000"),
        ('id = "code_quality"', 'id = "correctness"', "two dimensions"),
        ('key = "e"', 'key = "c"', "the key 'c'"),
        ('key = "e"', 'key = "8"', "no digit, which scores; not '8'"),
        ('key = "e"', 'key = "ee"', "one letter or sign"),
        ('60 = "wrong"', 'sixty = "wrong"', "level"),
        ("incremental_equals_full fails", "it breaks", "cannot read 'it breaks'"),
        ('dimension = "correctness"', 'dimension = "speed"', "no dimension 'speed'"),
        ("max = 60", "max = 160", "between 0 and 100"),
    ],
)
def test_a_rubric_that_contradicts_itself_is_told_with_its_line(
    write: Callable[..., Path], rubric_text: str, old: str, new: str, words: str
) -> None:
    text = rubric_text.replace(old, new)
    with pytest.raises(WorkspaceError) as caught:
        load_rubric(write(text))
    assert words in caught.value.message
    assert caught.value.line is not None
    assert new in text.splitlines()[caught.value.line - 1]


def test_a_rubric_without_dimensions_is_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(WorkspaceError, match="at least one"):
        load_rubric(write('task = "kv"\n'))
