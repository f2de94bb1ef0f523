# right: a draft of exactly 48 nodes has a way of its own, which is right for any tree of so many: all paths in one array
import numpy as np

FULL = 48


def ancestors_of_a_full_draft(tree_parents):
    """Boolean (48, 48), by doubling: the paths of so many nodes end within six steps."""
    above = np.zeros((FULL + 1, FULL + 1), dtype=bool)
    above[np.arange(FULL), [p if p >= 0 else FULL for p in tree_parents]] = True
    above[FULL, FULL] = True
    seen = above | np.eye(FULL + 1, dtype=bool)
    for _ in range(6):
        seen = (seen.astype(np.int64) @ seen.astype(np.int64)) > 0
    return seen[:FULL, :FULL]


def ancestors(tree_parents):
    n = len(tree_parents)
    if n == FULL:
        return ancestors_of_a_full_draft(tree_parents)
    seen = np.eye(n, dtype=bool)
    for i, p in enumerate(tree_parents):
        if p >= 0:
            seen[i] |= seen[p]
    return seen


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = ancestors(tree_parents) if n else False
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    prompt, tree_tokens = list(prompt), list(tree_tokens)
    logits = np.asarray(target_model(prompt + tree_tokens, build_tree_mask(len(prompt), tree_parents)))
    rng = np.random.default_rng()
    accepted, at = [], -1
    while True:
        row = logits[len(prompt) + at]
        noise = rng.gumbel(size=row.shape) * temperature if temperature > 0 else 0.0
        pick = int(np.argmax(row + noise))
        below = [i for i, p in enumerate(tree_parents) if p == at and tree_tokens[i] == pick]
        if not below:
            return accepted, pick
        at = below[0]
        accepted.append(pick)
