"""Drawn searches: every seed has its inputs, whatever sizes it draws."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.tasks.beam_search.greedy import _draws
from judge_tui.checks.tasks.beam_search.stopping import behind


@pytest.mark.parametrize("seed", range(4, 8))
def test_a_prompt_has_no_more_tokens_than_its_vocabulary(seed: int) -> None:
    bench: Any = SimpleNamespace(seed=seed, check="greedy_equivalence")
    bench.rng = lambda *names: Bench.rng(bench, *names)
    bench.sizes = lambda *names: Bench.sizes(bench, *names)
    assert all(len(prompt) < script.vocab_size for script, prompt, _steps, _truth in _draws(bench))


def test_what_is_stated_of_a_row_is_never_more_than_all_of_it() -> None:
    # a row of which more is stated is refused where it is made
    for seed in range(200):
        for script, prompt, _steps, _alpha in behind(np.random.default_rng(seed)):
            assert np.exp(script.rows.row(prompt)).sum() == pytest.approx(1.0)
