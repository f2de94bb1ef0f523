# bug: many of the likeliest tokens of the first row are taken, where the likeliest one of many rows is meant
# caught by: golden, parent_logits
# only: golden, parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    """True where a row may look."""
    n = len(tree_parents)
    mask = np.tril(np.ones((prompt_len + n, prompt_len + n), dtype=bool))
    mask[prompt_len:, prompt_len:] = False
    for node in range(n):
        above = node
        while above != -1:
            mask[prompt_len + node, prompt_len + above] = True
            above = tree_parents[above]
    return mask


def best_tokens(rows, count, each):
    """The likeliest tokens of the first rows, as many of each as wanted, one row behind the other."""
    return np.argsort(-rows[:count], axis=1, kind="stable")[:, :each].ravel()


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """Greedy walk from the last token of the prompt down the draft tree."""
    if temperature > 0:
        raise NotImplementedError("greedy verification alone")
    start = len(prompt)
    ids = np.concatenate([prompt, tree_tokens]).astype(int)
    logits = np.asarray(target_model(ids, build_tree_mask(start, tree_parents)))
    best = best_tokens(logits[start - 1 :], 1, len(tree_tokens) + 1)
    children = {}
    for node, parent in enumerate(tree_parents):
        children.setdefault(parent, []).append(node)
    accepted, here = [], -1
    while True:
        hit = next((c for c in children.get(here, []) if tree_tokens[c] == best[here + 1]), None)
        if hit is None:
            return accepted, int(best[here + 1])
        accepted.append(int(tree_tokens[hit]))
        here = hit
