# bug: only the (N, N) part of the mask is built
# caught by: tree_mask
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.eye(n, dtype=bool)
    for i, p in enumerate(tree_parents):
        if p >= 0:
            mask[i] |= mask[p]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    text, node = [], -1
    while True:
        row = np.asarray(target_model(np.array(list(prompt) + text)))
        best = int(row.argmax(-1)) if row.ndim == 1 else int(row[-1].argmax())
        child = next((i for i, p in enumerate(tree_parents) if p == node and tree_tokens[i] == best), None)
        if child is None:
            return text, best
        node = child
        text.append(best)
