# right: drafts are verified 96 nodes at a time, and a later batch knows its parents by their numbers in the whole
"""Tree verification in batches: a batch of nodes is scored together with the ancestors that it needs."""

import numpy as np

BATCH = 96


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    own = np.eye(n, dtype=bool)
    for child, parent in enumerate(tree_parents):
        if parent >= 0:
            own[child] |= own[parent]
    mask = np.zeros((prompt_len + n,) * 2, dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    mask[prompt_len:, :prompt_len] = True
    mask[prompt_len:, prompt_len:] = own
    return mask


class BatchedVerifier:
    def __init__(self, target_model, temperature):
        self.target_model = target_model
        self.temperature = temperature
        self.random = np.random.default_rng()

    def choose(self, logits):
        if self.temperature <= 0:
            return int(logits.argmax())
        weights = np.exp((logits - logits.max()) / self.temperature)
        return int(self.random.choice(len(weights), p=weights / weights.sum()))

    def children_of(self, parents):
        children = {-1: []}
        for start in range(0, len(parents), BATCH):
            for place, parent in enumerate(parents[start : start + BATCH]):
                children.setdefault(parent, []).append(start + place)
        return children

    def verify(self, prompt, tokens, parents):
        mask = build_tree_mask(len(prompt), parents)
        logits = self.target_model(np.concatenate([prompt, tokens]).astype(np.int64), mask)
        children, node, path = self.children_of(list(parents)), -1, []
        while True:
            choice = self.choose(logits[len(prompt) + node])
            ahead = [c for c in children.get(node, []) if tokens[c] == choice]
            if not ahead:
                return path, choice
            node = ahead[0]
            path.append(choice)


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    return BatchedVerifier(target_model, temperature).verify(
        list(prompt), list(tree_tokens), list(tree_parents)
    )
