# bug: at each depth any node of that depth is taken, whoever its parent is
# caught by: subtree_invalidation
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    m = np.tri(prompt_len + n, dtype=bool)
    m[prompt_len:, prompt_len:] = False
    for i in range(n):
        node = i
        while node >= 0:
            m[prompt_len + i, prompt_len + node] = True
            node = tree_parents[node]
    return m


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    accepted = []
    level = {}
    for i, p in enumerate(tree_parents):
        level[i] = 0 if p < 0 else level[p] + 1
    while True:
        row = np.asarray(target_model(list(prompt) + accepted))
        best = int(row.argmax())
        if not any(level[i] == len(accepted) and t == best for i, t in enumerate(tree_tokens)):
            return accepted, best
        accepted.append(best)
