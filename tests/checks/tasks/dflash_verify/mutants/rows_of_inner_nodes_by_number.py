# bug: rows of nodes without children are left out, and those of the others are looked up as if none were
# caught by: parent_logits
# passes: tree_mask
# only: parent_logits, tree_mask
from collections import defaultdict

import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.tri(size, dtype=bool)
    mask[prompt_len:, prompt_len:] = False
    for node in range(len(tree_parents)):
        up = node
        while up >= 0:
            mask[prompt_len + node, prompt_len + up] = True
            up = tree_parents[up]
    return mask


def probabilities(logits, heat):
    weights = np.exp((logits - logits.max()) / heat)
    return weights / weights.sum()


class Walk:
    """From the prompt down the drafted tree, one level after the other."""

    def __init__(self, logits, prompt_len, tokens, temperature, rng):
        self.logits, self.prompt_len, self.tokens = logits, prompt_len, tokens
        self.heat, self.rng = temperature, rng

    def row(self, node):
        return self.logits[min(node + 1, len(self.logits) - 1)]

    def drawn(self, probs):
        return int(np.searchsorted(np.cumsum(probs) / probs.sum(), self.rng.random(), side="right"))

    def step(self, node, children):
        """A child that is accepted, or None and the token in its place."""
        row = self.row(node)
        if self.heat <= 0:
            best = int(row.argmax())
            return next((child for child in children if self.tokens[child] == best), None), best
        left = probabilities(row, self.heat)
        gone = []
        for child in children:
            if self.rng.random() < left[self.tokens[child]]:
                return child, None
            gone.append(self.tokens[child])
            left[gone] = 0.0
            left /= left.sum()
        rest = probabilities(row, self.heat)
        rest[gone] = 0.0
        return None, self.drawn(rest)

    def bonus(self, node):
        row = self.row(node)
        if self.heat <= 0:
            return int(row.argmax())
        return self.drawn(probabilities(row, self.heat))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature, seed=None):
    """(accepted tokens, the token behind them)."""
    rng = np.random.default_rng(seed)
    prompt, tokens = list(prompt), [int(token) for token in tree_tokens]
    logits = np.asarray(target_model(prompt + tokens, build_tree_mask(len(prompt), tree_parents)), dtype=float)
    below = defaultdict(list)
    for node, parent in enumerate(tree_parents):
        below[parent].append(node)
    kept = [len(prompt) - 1, *(len(prompt) + node for node in sorted(below) if node >= 0)]
    walk, accepted, node = Walk(logits[kept], len(prompt), tokens, temperature, rng), [], -1
    while below[node]:
        child, other = walk.step(node, below[node])
        if child is None:
            return accepted, other
        accepted.append(tokens[child])
        node = child
    return accepted, walk.bonus(node)
