# right: a level at a time; the rows of the level above are gathered by the parents
# only: tree_mask, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    """Level by level: a node sees what its parent sees, and itself."""
    size = len(tree_parents)
    tree = np.eye(size, dtype=bool)
    depth = [0] * size
    for node, parent in enumerate(tree_parents):
        depth[node] = depth[parent] + 1 if parent >= 0 else 0
    levels = [[node for node in range(size) if depth[node] == d] for d in range(max(depth, default=-1) + 1)]
    for above, level in zip(levels, levels[1:]):
        tree[level] |= tree[[tree_parents[node] for node in level]]
    mask = np.tri(prompt_len + size, dtype=bool)
    mask[prompt_len:, prompt_len:] = tree
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature):
    """Accepted tokens, and the target's own behind them; what is drawn above 0 is right by rejection."""
    rng = np.random.default_rng()
    prompt, parents = list(prompt), [int(parent) for parent in tree_parents]
    logits = np.asarray(target_model(prompt + list(tree_tokens), build_tree_mask(len(prompt), parents)), dtype=float)
    accepted, node = [], -1
    while True:
        row = logits[len(prompt) + node if node >= 0 else len(prompt) - 1]
        chances = np.eye(len(row))[row.argmax()]
        if temperature > 0:
            chances = np.exp((row - row.max()) / temperature)
            chances /= chances.sum()
        token = int(rng.choice(len(row), p=chances))
        child = next((i for i, parent in enumerate(parents) if parent == node and tree_tokens[i] == token), None)
        if child is None:
            return accepted, token
        accepted.append(token)
        node = child
