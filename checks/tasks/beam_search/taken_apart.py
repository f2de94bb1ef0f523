"""Beams of several prompts that go to the model in one stack, and whose answers are taken apart otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from judge_tui.checks.tasks.beam_search.scripts import Tokens
from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["taken_apart"]

#: Place of a row in the stack; of prompt, beam, how many prompts and how many beams of each.
_Place = Callable[[int, int, int, int], int]


def _by_prompt(prompt: int, beam: int, _prompts: int, beams: int) -> int:
    return prompt * beams + beam


def _by_beam(prompt: int, beam: int, prompts: int, _beams: int) -> int:
    return beam * prompts + prompt


_ORDERS: Mapping[str, tuple[_Place, _Place]] = {
    "stacked prompt by prompt and taken apart beam by beam": (_by_prompt, _by_beam),
    "stacked beam by beam and taken apart prompt by prompt": (_by_beam, _by_prompt),
}


def taken_apart(
    rows: Rows, prompts: Sequence[Tokens], width: int, steps: int, got: Sequence[tuple[Tokens, ...]]
) -> str:
    """How the model's answers are taken apart, where that gives every beam; empty where it does not.

    Args:
        rows: The model, in which no beam ends.
        prompts: Of one length.
        width: K.
        steps: Most new tokens.
        got: The beams of each prompt, best first.
    """
    for words, (stacked, taken) in _ORDERS.items():
        for first in (1, width):
            if _searched(rows, prompts, width, steps, (stacked, taken), first) == list(got):
                return f"beams of all prompts are {words} around the model: they go on by others' logits"
    return ""


def _searched(
    rows: Rows, prompts: Sequence[Tokens], width: int, steps: int, orders: tuple[_Place, _Place], first: int
) -> list[tuple[Tokens, ...]]:
    """The beams of a search that goes so, with as many rows for each prompt at its first step."""
    stacked, taken = orders
    beams: list[list[tuple[float, Tokens]]] = [[(0.0, ())] for _ in prompts]
    many = len(prompts)
    for step in range(steps):
        count = width if step else first
        padded = [[*own, *[(-np.inf, ())] * (count - len(own))] for own in beams]
        stack: dict[int, np.ndarray] = {}
        for b, own in enumerate(padded):
            for k, (_, tokens) in enumerate(own):
                stack[stacked(b, k, many, count)] = rows.row((*prompts[b], *tokens))
        grown: list[list[tuple[float, Tokens]]] = []
        for b, own in enumerate(padded):
            new = [
                (total + float(value), (*tokens, token))
                for k, (total, tokens) in enumerate(own)
                if np.isfinite(total)
                for token, value in enumerate(stack[taken(b, k, many, count)])
            ]
            grown.append(sorted(new, key=lambda pair: -pair[0])[:width])
        beams = grown
    return [tuple(tokens for _, tokens in own) for own in beams]
