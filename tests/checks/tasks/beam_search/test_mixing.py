"""Whose answer each prompt of a batch gets is told by how rows were laid out, where that gives it."""

import pytest

from judge_tui.checks.tasks.beam_search.mixing import _whose


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
