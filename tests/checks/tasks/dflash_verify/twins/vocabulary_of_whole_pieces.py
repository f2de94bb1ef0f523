# right: the vocabulary is looked through in pieces of 250, and a rest where there is one
import numpy as np

PIECE = 250


def best(row):
    """Index of the largest logit, piece by piece as a kernel would have it."""
    size = len(row)
    top, at = -np.inf, 0
    for start in range(0, size - PIECE + 1, PIECE):
        piece = row[start : start + PIECE]
        if piece.max() > top:
            top, at = piece.max(), start + int(piece.argmax())
    rest = size % PIECE
    if rest and row[-rest:].max() > top:
        at = size - rest + int(row[-rest:].argmax())
    return at


class Tree:
    def __init__(self, tokens, parents):
        self.tokens, self.parents = list(map(int, tokens)), list(map(int, parents))
        self.below = {}
        for node, parent in enumerate(self.parents):
            self.below.setdefault(parent, {}).setdefault(self.tokens[node], node)

    def mask(self, prompt_len):
        return build_tree_mask(prompt_len, self.parents)


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.zeros((size, size), dtype=bool)
    for row in range(prompt_len):
        mask[row, : row + 1] = True
    for node, parent in enumerate(tree_parents):
        row = mask[prompt_len + node]
        row[:] = mask[prompt_len + parent] if parent >= 0 else False
        row[:prompt_len] = True
        row[prompt_len + node] = True
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """Greedy verification of a drafted tree; sampling adds Gumbel noise."""
    tree, prompt = Tree(tree_tokens, tree_parents), [int(t) for t in prompt]
    logits = np.asarray(target_model(prompt + tree.tokens, tree.mask(len(prompt))), dtype=float)
    if temperature > 0:
        logits = logits / temperature + np.random.default_rng().gumbel(size=logits.shape)
    accepted, node = [], None
    token = best(logits[len(prompt) - 1])
    while (node := tree.below.get(-1 if node is None else node, {}).get(token)) is not None:
        accepted.append(token)
        token = best(logits[len(prompt) + node])
    return accepted, token
