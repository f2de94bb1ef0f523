"""Drawn searches: every seed has its inputs, whatever sizes it draws."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.tasks.beam_search.greedy import _draws
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, beam_search, path_sum, penalised
from judge_tui.checks.tasks.beam_search.stopping import behind, fallen


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


def test_a_beam_that_fell_behind_all_that_ended_wins_by_its_length_in_every_right_search() -> None:
    for seed in range(40):
        for script, prompt, steps, alpha in fallen(np.random.default_rng(seed)):
            finds = [
                beam_search(script.rows, prompt, 2, steps, alpha, script.eos, variant) for variant in VARIANTS
            ]
            [best] = {found.best.tokens for found in finds}
            ended = [(script.eos,), (best[0], script.eos)]
            worst = min(penalised(path_sum(script.rows, prompt, t), len(t), alpha) for t in ended)
            fallen_to = path_sum(script.rows, prompt, best[:3])
            assert penalised(fallen_to, 4, alpha) < worst < penalised(fallen_to, steps, alpha)
            assert len(best) == steps
            assert min(found.hyps[0].score(alpha) - found.hyps[1].score(alpha) for found in finds) > 0.05
