# right: the tree is padded to whole pieces while its mask is made, and the prompt keeps its length
# only: tree_mask, golden
import numpy as np

PIECE = 16


def build_tree_mask(prompt_len, tree_parents):
    """The tree is padded to whole pieces while its mask is made."""
    size, total = len(tree_parents), prompt_len + len(tree_parents)
    padded = -(-size // PIECE) * PIECE
    tree = np.eye(padded, dtype=bool)
    for node, parent in enumerate(tree_parents):
        if parent >= 0:
            tree[node] |= tree[parent]
    mask = np.tri(total, dtype=bool)
    mask[prompt_len:] = False
    mask[prompt_len:, : prompt_len] = True
    mask[prompt_len:, prompt_len:] = tree[:size, :size]
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
