"""The scripted model answers for the sequences that it is handed, however they are packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from judge_tui.checks.worker.models import Model, rows_of

ROWS = rows_of({"kind": "prefix", "seed": 3, "vocab_size": 7, "scale": 1.0})
CONTEXTS = [[4, 1, 2], [5], [0, 6]]
FLAT = [token for context in CONTEXTS for token in context]


@pytest.mark.parametrize(
    "told",
    [
        {"cu_seqlens": np.array([0, 3, 4, 6])},
        {"offsets": [0, 3, 4, 6]},
        {"lengths": np.array([3, 1, 2])},
        {"seq_lens": [3, 1, 2]},
    ],
    ids=lambda told: next(iter(told)),
)
@pytest.mark.parametrize("by_name", [True, False])
def test_contexts_may_stand_one_behind_the_other(told: dict[str, Any], by_name: bool) -> None:
    wanted = [ROWS.row(context) for context in CONTEXTS]
    model = Model(ROWS)
    flat = np.array(FLAT)
    rows = model(flat, **told) if by_name else model(flat, *told.values())
    assert rows.shape == (3, 7)
    assert np.allclose(rows, wanted)


def test_one_context_in_a_pack_is_a_batch_of_one() -> None:
    for told in ({"cu_seqlens": np.array([0, 3])}, {"lengths": np.array([3])}):
        assert Model(ROWS)(np.array(CONTEXTS[0]), **told).shape == (1, 7)


@pytest.mark.parametrize("beside", [[0, 1, 2], [1, 1, 1], [0, 1, 1]], ids=["places", "mask", "padding"])
def test_what_stands_beside_a_single_context_splits_nothing(beside: list[int]) -> None:
    assert Model(ROWS)(np.array(CONTEXTS[0]), np.array(beside)).shape == (7,)
