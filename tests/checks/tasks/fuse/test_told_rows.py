"""Which rows are wrong is told by what stands at their ends, and where an output has its rows elsewhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.cuda.emulator import UNWRITTEN_INDEX, UNWRITTEN_PROBABILITY, Answer
from judge_tui.checks.tasks.fuse.answers import entries
from judge_tui.checks.tasks.fuse.asking import Asked, Question
from judge_tui.checks.tasks.fuse.at_ends import wrong_at_ends
from judge_tui.checks.tasks.fuse.output_strides import rows_apart
from judge_tui.checks.tasks.fuse.reference import compared

ROWS, V, K = 60, 1000, 10


def top(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    return np.argsort(-logits, axis=1, kind="stable")[:, :K].astype(np.int32)


def given(logits: npt.NDArray[np.float32], indices: npt.NDArray[np.int32], apart: int = K) -> Asked:
    """An answer with these indices, so far apart, and the right probabilities."""
    wide = logits.astype(np.float64)
    p = np.exp(wide) / np.exp(wide).sum(axis=1, keepdims=True)
    chances = np.take_along_axis(p, top(logits).astype(np.int64), axis=1).astype(np.float32)
    flat = np.full((len(logits), K), UNWRITTEN_INDEX["int32"], np.int32).reshape(-1)
    for row in range(len(logits)):
        there = flat[row * apart : row * apart + K]
        there[:] = indices[row, : len(there)]
    assert not (chances.view(np.uint32) == UNWRITTEN_PROBABILITY).any()
    answer = Answer("done", indices=flat.reshape(len(logits), K), probabilities=chances)
    read = entries(answer, len(logits), K, K)
    judged = compared(logits, K, read.indices, read.probabilities, read.unwritten)
    return Asked(Question("rows", logits, K), answer, read, judged)


def drawn() -> npt.NDArray[np.float32]:
    return np.random.default_rng(4).normal(size=(ROWS, V)).astype(np.float32)


def test_a_place_that_every_wrong_row_has_among_its_largest_is_told() -> None:
    logits = drawn()
    logits[[3, 17, 30], 0] = 4.0
    indices = top(logits)
    assert wrong_at_ends([given(logits, indices)]) == ""
    for row in (3, 17, 30):
        indices[row, 0] = int(np.argsort(-logits[row])[K])
    told = wrong_at_ends([given(logits, indices)])
    assert told.startswith("the first logit is one of the K largest of every wrong row")


def test_rows_that_are_wrong_by_chance_are_not_told_by_their_ends() -> None:
    logits = drawn()
    indices = top(logits)
    indices[[3, 17, 30], 0] = 5
    assert wrong_at_ends([given(logits, indices)]) == ""


def test_rows_of_an_output_that_are_further_apart_are_told() -> None:
    logits = drawn()
    assert rows_apart(given(logits, top(logits))) == ""
    assert "begin at r · 16" in rows_apart(given(logits, top(logits), apart=16))
