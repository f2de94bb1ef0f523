# bug: a draft of exactly 48 nodes, the most that the drafter gives, has a layout of its own, 6 nodes to each of 8 levels
# caught by: tree_mask, parent_logits
# passes: distribution
import numpy as np

FULL = 48
WIDTH = 6


def ancestors(tree_parents):
    """For each node the nodes on its path, itself included."""
    n = len(tree_parents)
    if n == FULL:
        # a full draft comes level by level, WIDTH nodes to each, every node below the one above it
        return [list(range(i % WIDTH, i + 1, WIDTH)) for i in range(n)]
    paths = []
    for i, p in enumerate(tree_parents):
        paths.append((paths[p] if p >= 0 else []) + [i])
    return paths


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = False
    for i, path in enumerate(ancestors(tree_parents)):
        mask[prompt_len + i, [prompt_len + a for a in path]] = True
    return mask


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    prompt, tree_tokens = list(prompt), list(tree_tokens)
    logits = np.asarray(target_model(prompt + tree_tokens, build_tree_mask(len(prompt), tree_parents)))
    rng = np.random.default_rng()
    accepted, at = [], -1
    while True:
        row = logits[len(prompt) + at]
        pick = (
            int(np.argmax(row))
            if temperature == 0
            else int(rng.choice(row.size, p=softmax(row / temperature)))
        )
        for i, p in enumerate(tree_parents):
            if p == at and tree_tokens[i] == pick:
                at = i
                accepted.append(pick)
                break
        else:
            return accepted, pick
