"""How the prompts of a batch are mixed up is told by how rows were laid out, where that gives all answers."""

import numpy as np
import pytest

from judge_tui.checks.tasks.beam_search import taken_apart
from judge_tui.checks.tasks.beam_search.mixing import _whose
from judge_tui.checks.tasks.beam_search.oracle import beam_search
from judge_tui.checks.tasks.beam_search.scripts import hashed


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([0, 2, 0, 2], "the rows of prompts and beams are laid out beam by beam and read prompt by prompt"),
        ([0, 0, 1, 1], "the rows of prompts and beams are laid out prompt by prompt and read beam by beam"),
        ([1, 0, 2, 3], "answers change places: prompt 0 gets the answer to prompt 1"),
        ([0, 0, 2, 3], "prompts get the answers to others: prompt 1 gets the answer to prompt 0"),
        ([3, 3, 3, 3], "every prompt gets the answer to prompt 3"),
    ],
)
def test_whose_answers_prompts_get(order: list[int], words: str) -> None:
    assert _whose(order, 2).startswith(words)


def test_answers_that_are_taken_apart_in_another_order_are_told() -> None:
    script = hashed(np.random.default_rng(3), 15, 4, bias=-14.0)
    prompts = [(1, 2, 3), (5, 6, 7), (8, 9, 1), (2, 6, 9)]
    right = [beam_search(script.rows, prompt, 2, 4, 0.0, 4).hyps for prompt in prompts]
    own = [tuple(hyp.tokens for hyp in hyps) for hyps in right]
    assert taken_apart.taken_apart(script.rows, prompts, 2, 4, own) == ""
    for words, orders in taken_apart._ORDERS.items():
        got = taken_apart._searched(script.rows, prompts, 2, 4, orders, 1)
        assert got != own
        assert words in taken_apart.taken_apart(script.rows, prompts, 2, 4, got)
