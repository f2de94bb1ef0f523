"""What single entries of wrong rows show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from judge_tui.checks.cuda.emulator import Answer
from judge_tui.checks.tasks.fuse.answers import Entries
from judge_tui.checks.tasks.fuse.asking import Asked, Question
from judge_tui.checks.tasks.fuse.by_entry import (
    from_place,
    merged_place_by_place,
    own_maxima,
    past_the_end,
    values_alone,
)
from judge_tui.checks.tasks.fuse.reference import compared, truth

K = 8
Indices = npt.NDArray[np.int64]
Chances = npt.NDArray[np.float32]


def right(logits: npt.NDArray[np.float32]) -> tuple[Indices, Chances]:
    """The right answer of rows."""
    known = truth(logits, K)
    wanted = np.exp(known.values.astype(np.float64) - known.lse[:, None])
    return np.argsort(-logits, axis=1, kind="stable")[:, :K], wanted.astype(np.float32)


def asked(logits: npt.NDArray[np.float32], indices: Indices, chances: Chances) -> Asked:
    """An answer as a check has it."""
    never = np.zeros(indices.shape, dtype=bool)
    return Asked(
        Question("rows", logits, K), Answer("done", 0, indices, chances),
        Entries(indices, chances, never, 0), compared(logits, K, indices, chances, never),
    )  # fmt: skip


@pytest.fixture
def logits() -> npt.NDArray[np.float32]:
    """Three rows."""
    return np.random.default_rng(4).normal(scale=2, size=(3, 700)).astype(np.float32)


def test_a_place_from_which_on_entries_are_wrong_is_told(logits: npt.NDArray[np.float32]) -> None:
    indices, chances = right(logits)
    assert from_place(asked(logits, indices, chances)) == ""
    indices[1, 5:] = 0
    told = from_place(asked(logits, indices, chances))
    assert told == "the first 5 are right, all from place 5 on are not, where index 0 stands each time"
    indices[1, 2] = 0
    assert from_place(asked(logits, indices, chances)) == ""


def test_right_values_beside_other_indices_are_told(logits: npt.NDArray[np.float32]) -> None:
    indices, chances = right(logits)
    moved = asked(logits, np.roll(indices, 1, axis=1), chances)
    assert "moved without their indices" in values_alone([moved])
    along = asked(logits, np.roll(indices, 1, axis=1), np.roll(chances, 1, axis=1))
    assert values_alone([along]) == ""


def test_indices_of_what_pads_a_row_are_told(logits: npt.NDArray[np.float32]) -> None:
    logits[:, 5:] = -np.inf
    indices, chances = right(logits)
    indices[:, 5:] = 700 + np.arange(3)
    assert "behind the row's end" in past_the_end(asked(logits, indices, chances))
    indices[:, 5:] = 90_000
    assert past_the_end(asked(logits, indices, chances)) == ""


def test_maxima_of_parts_are_told(logits: npt.NDArray[np.float32]) -> None:
    indices, chances = right(logits)
    lanes = np.stack([logits[:, lane::32].max(axis=1) for lane in range(K)], axis=1)
    off = chances * np.exp(logits.max(axis=1, keepdims=True) - lanes)
    assert "k-th of 32 lanes" in own_maxima([asked(logits, indices, off)])
    ones = np.exp(logits.max(axis=1, keepdims=True) - np.take_along_axis(logits, indices, 1)) * chances
    assert "1 / sum" in own_maxima([asked(logits, indices, ones)])
    assert own_maxima([asked(logits, indices, chances * 2)]) == ""


def test_lists_that_are_merged_place_by_place_are_told(logits: npt.NDArray[np.float32]) -> None:
    row = logits[0]
    best = np.full(64, -np.inf)
    for start in range(0, len(row), 64):
        part = np.full(64, -np.inf)
        part[: len(row[start : start + 64])] = -np.sort(-row[start : start + 64])
        best = np.maximum(best, part)
    indices = np.array([int(np.argmax(row == value)) for value in best[:K].astype(np.float32)])
    assert merged_place_by_place(row, indices) == {64}
    assert merged_place_by_place(row, right(logits)[0][0]) == {1024}
