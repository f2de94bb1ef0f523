"""Sums of exponentials that are merged wrongly are told by the mistake that gives them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.cuda import emulator
from judge_tui.checks.runner import judge
from judge_tui.checks.specimens import common_place
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.fuse import TASK, sums
from judge_tui.checks.tasks.fuse.hypotheses import hypotheses
from judge_tui.checks.tasks.fuse.merging import common
from judge_tui.checks.tasks.fuse.seen_sums import Sum, sum_of
from judge_tui.checks.verdict import Verdict

HERE = Path(__file__).parent
ON_EMULATOR = pytest.mark.skipif(bool(emulator.available()), reason="needs a C++ compiler")

Row = npt.NDArray[np.float32]
#: A row → the maximum that is taken off, and the sum that is divided by.
Kernel = Callable[[Row], tuple[float, float]]


def rows(count: int = 3) -> list[Row]:
    rng = np.random.default_rng(5)
    return [rng.normal(scale=2, size=V).astype(np.float32) for V in (1024, 2047, 3601)[:count]]


def answered(row: Row, kernel: Kernel, K: int = 8) -> Sum:
    picked = -np.sort(-row)[:K]
    top, total = kernel(row)
    chances = (np.exp(picked.astype(np.float64) - top) / total).astype(np.float32)
    seen = sum_of(row, picked, chances)
    assert seen is not None
    return seen


def told(kernel: Kernel) -> str:
    found = common([answered(row, kernel) for row in rows()])
    return found.words if found is not None else ""


def lanes(row: Row, count: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Maxima and sums of every ``count``-th logit."""
    parts = [row[start::count].astype(np.float64) for start in range(count)]
    tops = np.array([part.max() for part in parts])
    return tops, np.array([np.exp(part - top).sum() for part, top in zip(parts, tops, strict=True)])


def right(row: Row) -> tuple[float, float]:
    top = float(row.max())
    return top, float(np.exp(row.astype(np.float64) - top).sum())


def test_a_right_sum_and_one_that_is_only_scaled_have_no_mistake_of_a_merge() -> None:
    assert told(right) == ""
    assert told(lambda row: (right(row)[0], 1.25 * right(row)[1])) == ""
    assert told(lambda row: (right(row)[0], right(row)[1] + 3.0)) == ""


def test_how_far_sums_are_off_is_told_where_no_mistake_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def off(*times: float) -> str:
        made = [
            answered(row, lambda row, often=often: (right(row)[0], often * right(row)[1]))  # type: ignore[misc]
            for row, often in zip(rows(), times, strict=False)
        ]
        monkeypatch.setattr(sums, "_sums", lambda _asked: iter(made))
        wrong: Any = [SimpleNamespace(question=SimpleNamespace(logits=np.zeros((1, 9)))) for _ in times]
        return sums.sums_off(wrong)

    told = "indices are right, and the sum of exponentials is"
    assert off(1.25, 1.25) == f"{told} 1.25 times what it should be"
    assert off(1.25, 0.5) == f"{told} 0.5 to 1.25 times what it should be"
    assert off(1.25, 1.0) == ""


@pytest.mark.parametrize(
    ("total", "words"),
    [
        (lambda below: np.exp2(below).sum(), "2^(x − max)"),
        (lambda below: np.exp(below).sum() - 1, "lacks the largest logit's own term"),
        (lambda below: np.exp(below).sum() + 1, "begins at 1"),
        (lambda below: np.exp(below[below > -5]).sum(), "more than 5 below the largest"),
        (lambda below: np.exp(below).mean(), "divided by V"),
    ],
)
def test_terms_that_are_missing_or_too_many_are_told(
    total: Callable[[npt.NDArray[np.float64]], float], words: str
) -> None:
    def kernel(row: Row) -> tuple[float, float]:
        return float(row.max()), float(total(row.astype(np.float64) - row.max()))

    assert words in told(kernel)


def test_a_sum_that_goes_on_over_logits_of_0_is_told() -> None:
    def kernel(row: Row) -> tuple[float, float]:
        top = float(row.max())
        more = -len(row) % 512 * np.exp(-top)
        return top, float(np.exp(row.astype(np.float64) - top).sum() + more)

    made = np.random.default_rng(6)
    found = common([answered(made.normal(size=V).astype(np.float32), kernel) for V in (600, 1100, 1700)])
    assert found is not None
    assert found.words == "the sum goes on to a multiple of 512, with logits of 0"


def added_up(count: int) -> Kernel:
    def kernel(row: Row) -> tuple[float, float]:
        tops, totals = lanes(row, count)
        return float(tops.max()), float(totals.sum())

    return kernel


def wrong_way(row: Row) -> tuple[float, float]:
    tops, totals = lanes(row, 64)
    return float(tops.max()), float((totals * np.exp(tops.max() - tops)).sum())


def first_lane_alone(row: Row) -> tuple[float, float]:
    tops, totals = lanes(row, 32)
    return float(tops.max()), float(totals[0] * np.exp(tops[0] - tops.max()))


def shuffled_from_8_on(row: Row) -> tuple[float, float]:
    tops, totals = lanes(row, 32)
    reached = totals * np.exp(tops - tops.max())
    return float(tops.max()), float(reached[:16].sum())


def own_side_alone(row: Row) -> tuple[float, float]:
    tops, totals = (list(each) for each in lanes(row, 32))
    for stride in (16, 8, 4, 2, 1):
        for lane in range(stride):
            top = max(tops[lane], tops[lane + stride])
            totals[lane] = totals[lane] * np.exp(tops[lane] - top) + totals[lane + stride]
            tops[lane] = top
    return float(tops[0]), float(totals[0])


def never_rescaled(row: Row) -> tuple[float, float]:
    running = np.maximum.accumulate(row.astype(np.float64))
    return float(row.max()), float(np.exp(row - running).sum())


def lane_s_maximum(row: Row) -> tuple[float, float]:
    tops, _totals = lanes(row, 128)
    return float(tops[0]), right(row)[1]


def whole_rounds(row: Row) -> tuple[float, float]:
    return right(row)[0], float(np.exp(row[: len(row) // 256 * 256].astype(np.float64) - row.max()).sum())


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (added_up(32), "the sums of 32 lanes are merged without rescaling them by exp(m_part − m)"),
        (added_up(256), "the sums of 256 lanes are merged without rescaling"),
        (wrong_way, "the sums of 64 lanes are rescaled by exp(m − m_part), the wrong way, when"),
        (first_lane_alone, "of 32 lanes the sum of the first alone is left"),
        (shuffled_from_8_on, "those without bit 16 in their number alone are merged: no step has stride 16"),
        (own_side_alone, "the sums of 32 lanes are merged with one side rescaled alone, its own"),
        (never_rescaled, "the running sum of the one thread is not rescaled when its maximum rises"),
        (whole_rounds, "the logits behind the last multiple of 256 are left out of the sum"),
        (lane_s_maximum, "the maximum of the first of 128 lanes is taken for the row's"),
    ],
)
def test_a_mistake_is_told_by_the_sum_that_it_gives(kernel: Kernel, words: str) -> None:
    assert words in told(kernel)


def test_one_row_that_is_off_is_too_few() -> None:
    kernel = added_up(32)
    assert common([answered(rows()[0], kernel)]) is None
    assert common([answered(rows()[0], kernel), answered(rows()[1], right)]) is None


def test_entries_that_have_no_factor_in_common_tell_of_no_sum() -> None:
    row = rows(1)[0]
    picked = -np.sort(-row)[:3]
    assert sum_of(row, picked, np.array([0.5, 0.4, 0.3], np.float32)) is None
    assert sum_of(row, picked, np.zeros(3, np.float32)) is None


def test_parts_without_a_logit_count_for_nothing() -> None:
    row = np.random.default_rng(2).normal(size=40).astype(np.float32)
    seen = answered(row, right)
    for each in hypotheses():
        with np.errstate(all="ignore"):
            assert not np.isnan(each.made(seen.row)) or "last one" in each.words, each.words


@ON_EMULATOR
@pytest.mark.parametrize(
    ("mutant", "check", "words"),
    [
        ("lane_maxima_not_merged", "k_range", "rescaled each time by a lane's own maximum, not the merged"),
        ("sums_of_warps_added_up", "numerics", "the sums of 8 warps (lanes) are merged without rescaling"),
        ("sums_of_half_the_threads", "topk_correct", "of 64 lanes with a stretch each those without bit 32"),
        (
            "stretches_rescaled_the_wrong_way", "rows_independent",
            "the sums of 32 lanes with a stretch each are rescaled by exp(m − m_part), the wrong way",
        ),
    ],
)  # fmt: skip
def test_sentences_name_what_is_wrong_with_a_merge(
    mutant: str, check: str, words: str, tmp_path: Path
) -> None:
    submitted = tmp_path / "somebody" / "fuse"
    submitted.mkdir(parents=True)
    shutil.copy(HERE / "mutants" / f"{mutant}.cu", submitted)
    outcomes = judge(TASK, Submission.at(submitted), place=common_place(TASK), seed=4, checks=(check,))
    outcome = outcomes[check]
    assert outcome.verdict is Verdict.FAIL
    assert words in outcome.summary
    assert any(item.quantity == "the sum of exponentials" for item in outcome.evidence)
