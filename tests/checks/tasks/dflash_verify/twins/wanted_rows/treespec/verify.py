# right: the target is told which rows are wanted; duplicate siblings are one frontier
"""Lossless acceptance of a draft tree by the target model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .topology import build_tree_mask, children_of, node_depths


class Verdict(NamedTuple):
    """Unpacks as ``accepted, new_token``."""

    accepted: list[int]  # draft tokens that survive, in order
    new_token: int  # one further token, from the target itself


def _distribution(logits: np.ndarray, temperature: float) -> np.ndarray:
    p = np.exp((logits - logits.max()) / temperature)
    return p / p.sum()


def _by_token(frontier: list[int], tree_tokens: list[int], kids: dict[int, list[int]]):
    """Children of all frontier nodes, merged by token, in listing order."""
    merged: dict[int, list[int]] = {}
    for node in frontier:
        for child in kids[node]:
            merged.setdefault(tree_tokens[child], []).append(child)
    return merged


def verify_and_accept(
    prompt, tree_tokens, tree_parents, target_model, temperature: float = 0.0, *,
    rng: np.random.Generator | None = None,
) -> Verdict:
    """Judge the draft tree with one packed forward pass of the target.

    The walk starts at the last prompt token and goes down.  Siblings may repeat
    a token; such duplicates stand for the same text, so the walk carries a
    *frontier* of equivalent nodes and loses none of their continuations.

    Temperature 0
        A child survives iff its token is the argmax of the target's logits at
        its parent.  ``accepted + [new_token]`` is a prefix of greedy decoding.

    Temperature > 0
        The draft is deterministic, i.e. its proposal distribution is a point
        mass.  Speculative sampling then accepts a candidate ``c`` with
        probability ``p(c)``; upon rejection ``c`` is removed from ``p``, which is
        renormalised for the next sibling; the last residual yields ``new_token``.
    """
    prompt = [int(t) for t in prompt]
    tree_tokens = [int(t) for t in tree_tokens]
    if not prompt:
        raise ValueError("prompt must hold at least one token")
    if len(tree_tokens) != len(tree_parents):
        raise ValueError("tree_tokens and tree_parents differ in length")
    if temperature < 0:
        raise ValueError("temperature must be >= 0")
    if temperature > 0 and rng is None:
        rng = np.random.default_rng()

    plen = len(prompt)
    positions = list(range(plen)) + [plen + d for d in node_depths(tree_parents)]
    logits = target_model.score_rows(
        prompt + tree_tokens,
        positions=positions,
        visible=build_tree_mask(plen, tree_parents),
        rows=range(plen - 1, plen + len(tree_tokens)),
    )
    # Row 0 is the last prompt token (virtual node -1), row i + 1 is node i.
    kids = children_of(tree_parents)
    accepted: list[int] = []
    frontier = [-1]
    while True:
        row = logits[frontier[0] + 1]
        options = _by_token(frontier, tree_tokens, kids)

        if temperature == 0:
            choice = int(row.argmax())
            if choice not in options:
                return Verdict(accepted, choice)
        else:
            p = _distribution(row, temperature)
            choice = None
            for token in options:
                mass = p.sum()
                if mass <= 0.0:  # everything else has been ruled out by rounding
                    break
                if rng.random() * mass < p[token]:
                    choice = token
                    break
                p[token] = 0.0
            if choice is None:
                if p.sum() <= 0.0:
                    p = _distribution(row, temperature)
                return Verdict(accepted, int(rng.choice(p.size, p=p / p.sum())))

        accepted.append(choice)
        frontier = options[choice]
