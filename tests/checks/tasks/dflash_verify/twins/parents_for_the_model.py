# right: the model builds the mask itself from the parents; it returns logits and a cache
# skips: distribution (greedy alone)
from __future__ import annotations

import numpy as np


class TargetLM:
    def __init__(self, vocab: int = 20, seed: int = 1):
        self.w = np.random.default_rng(seed).standard_normal((vocab, vocab))

    def __call__(self, prompt, tree_tokens, tree_parents):
        mask = build_tree_mask(len(prompt), tree_parents)
        tokens = np.array(list(prompt) + list(tree_tokens))
        logits = mask.astype(float) @ self.w[tokens]
        return logits, {"kv": tokens}


def build_tree_mask(prompt_len: int, tree_parents: list[int]) -> np.ndarray:
    def visible(row: int, col: int) -> bool:
        if row < prompt_len or col < prompt_len:
            return col <= row
        node, other = row - prompt_len, col - prompt_len
        while node > other:
            node = tree_parents[node]
        return node == other

    size = prompt_len + len(tree_parents)
    return np.array([[visible(r, c) for c in range(size)] for r in range(size)], dtype=bool).reshape(size, size)


def verify_and_accept(
    prompt: list[int], tree_tokens: list[int], tree_parents: list[int], target_model: TargetLM, temperature: float = 0.0
) -> tuple[list[int], int]:
    if temperature:
        raise ValueError("greedy only")
    logits, _cache = target_model(prompt, tree_tokens, tree_parents)
    P = len(prompt)
    state: dict[int, bool] = {}
    for i, (token, parent) in enumerate(zip(tree_tokens, tree_parents)):
        parent_ok = parent == -1 or state[parent]
        parent_row = P - 1 if parent == -1 else P + parent
        state[i] = bool(parent_ok and np.argmax(logits[parent_row]) == token)
    leaf, length = -1, 0
    for i, ok in state.items():
        if ok:
            steps, j = 0, i
            while j != -1:
                steps, j = steps + 1, tree_parents[j]
            if steps > length:
                leaf, length = i, steps
    accepted: list[int] = []
    j = leaf
    while j != -1:
        accepted.append(tree_tokens[j])
        j = tree_parents[j]
    return accepted[::-1], int(np.argmax(logits[P - 1 if leaf == -1 else P + leaf]))
