"""Tokens that may be taken for the target's likeliest, by the logits of the right row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.dflash_verify.trees import Tokens
from judge_tui.checks.tasks.dflash_verify.verifying import Case

__all__ = ["picked", "picked_new"]

#: Logits (V,) → the token that is taken.
_Pick = Callable[[npt.NDArray[Any]], int]


def _by_zero(row: npt.NDArray[Any]) -> int:
    with np.errstate(all="ignore"):
        return int(np.argmax(row / 0.0))


def _behind(rank: int) -> _Pick:
    return lambda row: int(np.argsort(-row, kind="stable")[min(rank, len(row) - 1)])


#: What is taken for the likeliest token, in words → which that is.
_PICKS: Mapping[str, _Pick] = {
    "token 0, as where log-probabilities, divided by a temperature of 0, are all -inf,": lambda row: 0,
    "the first token of a positive logit, as of logits divided by a temperature of 0,": _by_zero,
    "the token of the smallest logit": lambda row: int(np.argmin(row)),
    "the token of the largest magnitude of a logit": lambda row: int(np.argmax(np.abs(row))),
    "the second likeliest token": _behind(1),
    "the third likeliest token": _behind(2),
    "the token behind the likeliest": lambda row: (int(np.argmax(row)) + 1) % len(row),
    "the token before the likeliest": lambda row: int(np.argmax(row)) - 1,
    "the token counted from the end of the vocabulary": lambda row: len(row) - 1 - int(np.argmax(row)),
    "the likeliest but for the last token of the vocabulary": lambda row: int(np.argmax(row[:-1])),
    "the likeliest but for token 0": lambda row: 1 + int(np.argmax(row[1:])),
    "the likeliest of the first half of the vocabulary": lambda row: int(np.argmax(row[: -(-len(row) // 2)])),
    "the likeliest of the logits cut down to whole numbers": lambda row: int(np.argmax(np.trunc(row))),
}


def picked(cases: Sequence[Case]) -> str:
    """What is taken for the likeliest token in every case, in words; empty for none.

    Args:
        cases: What was verified, none with siblings of one token.
    """
    if all(case.answer.tokens == case.right and case.new_fits for case in cases):
        return ""
    for words, pick in _PICKS.items():
        if all(_explains(case, pick) for case in cases):
            return f"{words} taken for the target's likeliest"
    return ""


def picked_new(cases: Sequence[Case]) -> str:
    """What the new token is in every case, as the end of "the new token is"; empty for none.

    Args:
        cases: What was verified, each with a new token behind accepted ones that are a path.
    """
    for words, pick in _PICKS.items():
        if cases and all(case.answer.new == _taken(case, case.answer.tokens, pick) for case in cases):
            return f" {words}"
    return ""


def _explains(case: Case, pick: _Pick) -> bool:
    text: list[int] = []
    node = -1
    while True:
        taken = _taken(case, tuple(text), pick)
        child = next((one for one in case.tree.children(node) if case.tree.tokens[one] == taken), None)
        if child is None:
            return case.answer.tokens == tuple(text) and case.answer.new in (None, taken)
        node = child
        text.append(taken)


def _taken(case: Case, text: Tokens, pick: _Pick) -> int:
    return pick(case.script.rows.row((*case.prompt, *text)))
