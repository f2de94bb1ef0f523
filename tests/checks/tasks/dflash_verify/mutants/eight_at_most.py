# bug: the walk down the tree ends after eight levels, however many more the target would take
# caught by: parent_logits
# passes: tree_mask, subtree_invalidation, golden
from collections import defaultdict

import numpy as np

LEVELS = 8


class Target:
    """Logits of every row under a boolean mask."""

    def __init__(self, vocab=31, width=10, seed=4):
        draw = np.random.default_rng(seed).standard_normal
        self.table, self.head = draw((vocab, width)), draw((width, vocab))

    def __call__(self, ids, mask):
        share = mask / mask.sum(axis=1, keepdims=True)
        return (self.table[ids] + share @ self.table[ids]) @ self.head


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.tri(size, dtype=bool)
    for node, parent in enumerate(tree_parents):
        row = mask[prompt_len + node]
        row[prompt_len:] = False
        row[prompt_len + node] = True
        if parent >= 0:
            row[prompt_len:] |= mask[prompt_len + parent, prompt_len:]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    ids = np.array([*prompt, *tree_tokens], dtype=int)
    logits = np.asarray(target_model(ids, build_tree_mask(len(prompt), tree_parents)))
    below = defaultdict(list)
    for node, parent in enumerate(tree_parents):
        below[int(parent)].append(node)
    accepted, here, token = [], -1, 0
    for _ in range(LEVELS + 1):
        row = logits[len(prompt) - 1 if here < 0 else len(prompt) + here]
        if temperature > 0:
            noise = np.random.default_rng().gumbel(size=row.shape)
            token = int(np.argmax(row / temperature + noise))
        else:
            token = int(np.argmax(row))
        fits = [node for node in below[here] if int(tree_tokens[node]) == token]
        if not fits or len(accepted) == LEVELS:
            break
        # Twins: the one with more below it.
        here = max(fits, key=lambda node: len(below[node]))
        accepted.append(token)
    return accepted, token
