"""Answers are read however they are written, and what is no answer is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.dflash_verify.masks import Written, seen
from judge_tui.checks.tasks.dflash_verify.reading import Form, read, settle
from judge_tui.checks.tasks.dflash_verify.trees import Tree, visibility
from judge_tui.checks.worker.attributed import attributed

PROMPT, TREE = (20, 21, 22, 23, 24), Tree((36, 36, 36), (-1, 0, 1))
LATER = Tree((7, 8, 9, 8), (-1, -1, 0, 2))


@pytest.mark.parametrize(
    ("value", "later", "tokens", "new"),
    [
        ([[36, 36, 36], 36], [[7, 9], 5], (7, 9), 5),
        ([[0, 1, 2], 36], [[0, 2], 5], (7, 9), 5),
        ([[5, 6, 7], 36], [[3, 5], 5], (7, 9), 5),
        ([[1, 2, 3], 36], [[1, 3], 5], (7, 9), 5),
        ([[True, True, True], 36], [[True, False, True, False], 5], (7, 9), 5),
        ([36, [36, 36, 36]], [5, [7, 9]], (7, 9), 5),
        ([[36, 36, 36], [36]], [[7, 9], [5]], (7, 9), 5),
        ([[36, 36, 36], None], [[7, 9], 5], (7, 9), 5),
        ([[36, 36, 36], -1], [[], 5], (), 5),
        ([[36, 36, 36], 3, 36], [[7, 9], 2, 5], (7, 9), 5),
        ([[36, 36, 36, 36], 36], [[7, 9, 5], 5], (7, 9), 5),
        ([36, 36, 36, 36], [7, 9, 5], (7, 9), 5),
        ([[20, 21, 22, 23, 24, 36, 36, 36], 36], [[20, 21, 22, 7, 9], 5], (7, 9), 5),
        ([[[0, 36], [1, 36], [2, 36]], 36], [[[0, 7], [2, 9]], 5], (7, 9), 5),
        ({"accepted": [36, 36, 36], "new_token": 36}, {"accepted": [], "new_token": 4}, (), 4),
        (
            {"n": 3, "bonus_token": 36, "path": [0, 1, 2]},
            {"n": 2, "bonus_token": 5, "path": [0, 2]},
            (7, 9),
            5,
        ),
        (
            attributed([36, 36, 36], {"rows": 3, "nodes": [0, 1, 2], "new_token": 36}),
            attributed([7, 9], {"rows": 4, "nodes": [0, 2], "new_token": 5}),
            (7, 9),
            5,
        ),
        (attributed([36, 36, 36, 36], {"rows": 3}), attributed([7, 9, 5], {"rows": 4}), (7, 9), 5),
        (
            attributed({"accepted": [0, 1, 2]}, {"bonus": 36}),
            attributed({"accepted": [0, 2]}, {"bonus": 5}),
            (7, 9),
            5,
        ),
        (attributed([[0, 1, 2], 36], {"rows": 3}), attributed([[0, 2], 5], {"rows": 3}), (7, 9), 5),
    ],
)
def test_an_answer_is_read_as_it_was_written_first(value: Any, later: Any, tokens: Any, new: int) -> None:
    form, answer = settle(value, PROMPT, TREE, 36)
    assert answer.tokens == (36, 36, 36)
    answer = read(form, later, PROMPT[:3], LATER)
    assert (answer.tokens, answer.new) == (tokens, new)


@pytest.mark.parametrize(
    "value", [None, 3, {}, "text", [[0.5], 36], [["a"], 36], {"accepted": [36]}, [3, 36]]
)
def test_what_holds_no_accepted_nodes_or_no_token_is_refused(value: Any) -> None:
    with pytest.raises(BadResult):
        settle(value, PROMPT, TREE, 36)


def test_a_node_that_is_not_in_the_tree_is_refused() -> None:
    with pytest.raises(BadResult, match="node 9"):
        read(Form(kind="indices"), [[0, 9], 5], PROMPT, LATER)


TRUTH = visibility(3, (-1, 0, 0, -1))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (TRUTH.tolist(), Written.BOOL),
        (TRUTH.astype(int).tolist(), Written.NUMBERS),
        ((~TRUTH).tolist(), Written.INVERTED),
        (np.where(TRUTH, 0.0, -np.inf).tolist(), Written.ADDITIVE),
        ([[TRUTH.tolist()]], Written.BOOL),
        ({"mask": TRUTH.tolist(), "n": 4}, Written.BOOL),
        ([TRUTH.tolist(), [0, 1, 2]], Written.BOOL),
    ],
)
def test_a_mask_is_read_and_how_it_is_written_is_told(value: Any, written: Written) -> None:
    mask = seen(value, TRUTH)
    assert mask.written == written
    assert np.array_equal(mask.visible, TRUTH)


@pytest.mark.parametrize("value", [None, 3, [1, 2], [["a"]], [[[True, False]] * 2] * 3])
def test_what_holds_no_matrix_is_no_mask(value: Any) -> None:
    with pytest.raises(BadResult):
        seen(value, TRUTH)


def test_a_path_may_go_on_below_a_sibling_of_the_same_token() -> None:
    """Cousins of the same token are no siblings: what stands above them is another text."""
    twins = Tree((2, 2, 2, 2, 2), (-1, 0, 1, 1, 3))
    assert twins.is_path((0, 1, 2, 4))
    assert twins.is_path((0, 1, 3, 4))
    assert not twins.is_path((0, 1, 4))
    assert not twins.is_path((0, 1, 2, 3))
    assert not twins.is_path((1, 2))
    cousins = Tree((5, 6, 2, 2, 9), (-1, -1, 0, 1, 3))
    assert cousins.is_path((1, 3, 4))
    assert not cousins.is_path((1, 2, 4))
    assert not cousins.is_path((0, 2, 4))
