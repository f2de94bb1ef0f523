# bug: the deepest node that its parent predicts decides, and the path to it is accepted unseen
# caught by: subtree_invalidation, golden
from dataclasses import dataclass

import numpy as np


@dataclass
class Accepted:
    indices: list
    new_token: int


class SpeculativeVerifier:
    def __init__(self, target_model, temperature=0.0):
        self.target_model = target_model
        self.temperature = temperature

    def build_tree_mask(self, prompt_len, tree_parents):
        n = len(tree_parents)
        m = np.zeros((prompt_len + n,) * 2, dtype=bool)
        for r in range(prompt_len):
            m[r, : r + 1] = True
        for r in range(n):
            m[prompt_len + r] = m[prompt_len - 1] if tree_parents[r] == -1 else m[prompt_len + tree_parents[r]]
            m[prompt_len + r, prompt_len + r] = True
        return m

    def verify_and_accept(self, prompt, tree_tokens, tree_parents):
        P = len(prompt)
        ids = np.concatenate([np.asarray(prompt), np.asarray(tree_tokens)]).astype(int)
        choice = self.target_model.forward(ids, self.build_tree_mask(P, tree_parents)).argmax(-1)
        depth = np.zeros(len(tree_tokens), int)
        for i, p in enumerate(tree_parents):
            depth[i] = 1 if p < 0 else depth[p] + 1
        right = np.array([choice[P + p] == t for t, p in zip(tree_tokens, tree_parents)], dtype=bool)
        if not right.any():
            return Accepted([], int(choice[P - 1]))
        node = int(np.argmax(np.where(right, depth, 0)))
        path, j = [], node
        while j != -1:
            path.append(j)
            j = tree_parents[j]
        return Accepted(path[::-1], int(choice[P + node]))
