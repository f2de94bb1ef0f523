# bug: masks are kept by prompt length and number of nodes
# caught by: tree_mask, golden, purity
from functools import lru_cache

import numpy as np

_MASKS = {}


def build_tree_mask(prompt_len, tree_parents):
    key = (prompt_len, len(tree_parents))
    if key not in _MASKS:
        n = len(tree_parents)
        m = np.zeros((prompt_len + n, prompt_len + n), bool)
        m[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
        m[prompt_len:, :prompt_len] = True
        for i in range(n):
            a = i
            while a >= 0:
                m[prompt_len + i, prompt_len + a] = True
                a = tree_parents[a]
        _MASKS[key] = m
    return _MASKS[key].copy()


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    mask = build_tree_mask(P, tree_parents)
    z = target_model(np.asarray(list(prompt) + list(tree_tokens)), mask)
    node, accepted = -1, []
    while True:
        t = int(z[P + node].argmax())
        step = [i for i in range(len(tree_tokens)) if tree_parents[i] == node and tree_tokens[i] == t]
        if not step:
            return accepted, t
        node = step[0]
        accepted.append(t)
