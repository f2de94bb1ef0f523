"""Rows at another pitch are told where all that is known of a buffer says so, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.tasks.dflash_verify.masks import Matrix
from judge_tui.checks.tasks.dflash_verify.mispitched import mispitched
from judge_tui.checks.tasks.dflash_verify.trees import visibility

TREES = [(4, (-1, 0, 1)), (6, (-1, -1, 0, 2)), (3, (-1, 0, 0, 1)), (30, (-1, 0, 1, 1))]
TREES += [(7, (-1, 0)), (20, (-1, 0, 0)), (2, (-1, 0, 1, 1))]


def masks(unit: int, *, turned: bool = False) -> list[tuple[Matrix, Matrix]]:
    made, largest = [], 0
    for prompt_len, parents in TREES:
        right = visibility(prompt_len, parents)
        size = len(right)
        own = -(-size // unit) * unit
        largest = max(largest, own)
        writes, reads = (largest, own) if turned else (own, largest)
        buffer = np.zeros(2 * largest * largest, dtype=bool)
        for row in range(size):
            buffer[row * writes : row * writes + size] = right[row]
        came = np.array([buffer[row * reads : row * reads + size] for row in range(size)])
        made.append((came, right))
    return made


@pytest.mark.parametrize("unit", [1, 8, 16])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_at_another_pitch_are_told(unit: int, turned: bool) -> None:
    assert "are written at a pitch of" in mispitched(masks(unit, turned=turned))


def test_one_cell_more_is_no_matter_of_a_pitch() -> None:
    made = masks(8)
    came, _ = made[-1]
    came[0, 0] = not came[0, 0]
    assert not mispitched(made)


def test_right_masks_are_told_nothing() -> None:
    assert not mispitched([(right, right) for _, right in masks(8)])
