# bug: the running sums that a token is drawn by are kept in float16, so that unlikely tokens add nothing to them
# caught by: distribution
# only: distribution, golden
"""Tree verification that follows what the target itself draws."""

import numpy as np

_RNG = np.random.default_rng()


def build_tree_mask(prompt_len, tree_parents):
    total = prompt_len + len(tree_parents)
    mask = np.zeros((total, total), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    for node, parent in enumerate(tree_parents):
        row = prompt_len + node
        mask[row] = mask[prompt_len + parent] if parent >= 0 else np.arange(total) < prompt_len
        mask[row, row] = True
    return mask


def pick(logits, temperature):
    logits = np.asarray(logits, dtype=np.float64)
    if temperature <= 0:
        return int(logits.argmax())
    scaled = np.exp((logits - logits.max()) / temperature)
    sums = np.cumsum(scaled / scaled.sum(), dtype=np.float16)
    return int(min(np.searchsorted(sums, _RNG.random() * sums[-1], side="right"), len(sums) - 1))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """Returns (accepted tokens, new token)."""
    start = len(prompt)
    rows = np.asarray(target_model([*prompt, *tree_tokens], build_tree_mask(start, tree_parents)))
    accepted, node = [], -1
    while True:
        token = pick(rows[start + node] if node >= 0 else rows[start - 1], temperature)
        child = next((n for n, p in enumerate(tree_parents) if p == node and tree_tokens[n] == token), None)
        if child is None:
            return accepted, token
        accepted.append(token)
        node = child
