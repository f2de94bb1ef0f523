"""A token that is taken for the likeliest is told, in each way of taking one; of right answers nothing is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.tasks.dflash_verify.picks import picked, picked_new
from judge_tui.checks.tasks.dflash_verify.reading import Answer
from judge_tui.checks.tasks.dflash_verify.scripts import decisive
from judge_tui.checks.tasks.dflash_verify.trees import Tree, greedy
from judge_tui.checks.tasks.dflash_verify.verifying import Case

Pick = Callable[[Any], int]
WAYS: dict[str, Pick] = {
    "token 0": lambda row: 0,
    "the token of the smallest logit": lambda row: int(np.argmax(-row)),
    "the second likeliest": lambda row: int(np.argsort(row)[-2]),
    "the token behind the likeliest": lambda row: (int(np.argmax(row)) + 1) % len(row),
}


def verified(pick: Pick) -> Iterator[Case]:
    for number in range(12):
        rng = np.random.default_rng(number)
        prompt = (1, 2, number % 4)
        script = decisive(rng, 7 + number, prompt, 4)
        right = greedy(script.rows, prompt, 3)[0]

        tree = Tree(right, (-1, 0, 1))
        text: list[int] = []
        while len(text) < 3 and (token := pick(script.rows.row((*prompt, *text)))) == right[len(text)]:
            text.append(token)
        new = pick(script.rows.row((*prompt, *text)))
        yield Case(script, prompt, tree, Answer(tuple(text), None, new), right)


@pytest.mark.parametrize("words", WAYS)
def test_what_is_taken_for_the_likeliest_is_told(words: str) -> None:
    assert picked(list(verified(WAYS[words]))).startswith(words)


def test_of_the_likeliest_itself_and_of_any_token_nothing_is_told() -> None:
    assert picked(list(verified(lambda row: int(np.argmax(row))))) == ""
    assert picked(list(verified(lambda row: int(abs(row[0]) * 1e6) % len(row)))) == ""


def test_a_new_token_alone_is_told() -> None:
    cases = [
        Case(one.script, one.prompt, one.tree, Answer(one.right, None, WAYS["the second likeliest"](
            one.script.rows.row((*one.prompt, *one.right)))), one.right)
        for one in verified(lambda row: int(np.argmax(row)))
    ]  # fmt: skip
    assert picked_new(cases) == " the second likeliest token"
