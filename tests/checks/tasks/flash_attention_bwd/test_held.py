"""Of wrong calls a plain one is told, and a special one where plain ones are right."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.tasks.flash_attention.cases import drawn
from judge_tui.checks.tasks.flash_attention.rows import Rows
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.reference import gradients, posed

SPECIAL = (
    "scores near 900",
    "in memory Q transposed",
    "hidden keys score highest, by 64 from key to key",
    "N about 8, which a.py:3 has",
)


@pytest.mark.parametrize("name", SPECIAL)
def test_a_plain_wrong_call_is_told_before_a_special_one(name: str) -> None:
    for plain_is_wrong, told in ((True, "uneven tiles"), (False, name)):
        rows, ledger = Rows(), Ledger()
        for seed, (called, factor) in enumerate(
            ((name, 1e6), ("uneven tiles", 2.0 if plain_is_wrong else 1.0))
        ):
            rng = np.random.default_rng(seed)
            case = drawn(rng, (1, 2, 7, 4), 3, True, name=called)
            rows.hold(case, factor * case.truth)
            problem = posed(rng, (1, 2, 7, 4), 3, True, name=called)
            truth = gradients(problem)
            ledger.hold(problem, {each: factor * made for each, made in truth.items()})
        assert rows.worst.case.name == told
        assert ledger.worst().problem.case.name == told
