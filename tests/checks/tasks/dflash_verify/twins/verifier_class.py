# right: a class that holds its model; batched arrays; a dataclass of node indices
from dataclasses import dataclass

import numpy as np


@dataclass
class VerifyResult:
    accepted_indices: np.ndarray
    new_token: int

    def __len__(self):
        return len(self.accepted_indices)


class TargetModel:
    """Deterministic toy LM: bag of attended embeddings."""

    def __init__(self, vocab=32, hidden=8, seed=7):
        g = np.random.default_rng(seed)
        self.E = g.standard_normal((vocab, hidden))
        self.W = g.standard_normal((hidden, vocab))

    def forward(self, input_ids, attention_mask):
        h = self.E[input_ids]                       # (B, L, H)
        a = attention_mask.astype(h.dtype)          # (B, L, L)
        a = a / a.sum(axis=-1, keepdims=True)
        return np.tanh(a @ h) @ self.W              # (B, L, V)


class TreeVerifier:
    def __init__(self, target_model, temperature=0.0):
        self.target_model = target_model
        self.temperature = temperature

    @staticmethod
    def build_tree_mask(prompt_len: int, tree_parents: np.ndarray) -> np.ndarray:
        parents = np.asarray(tree_parents, dtype=np.int64)
        n = parents.shape[0]
        ancestry = np.eye(n, dtype=bool)
        for i in range(n):
            if parents[i] != -1:
                ancestry[i] |= ancestry[parents[i]]
        full = np.tril(np.ones((prompt_len + n, prompt_len + n), dtype=bool))
        full[prompt_len:, prompt_len:] = ancestry
        return full

    def verify_and_accept(self, prompt: np.ndarray, tree_tokens: np.ndarray, tree_parents: np.ndarray) -> VerifyResult:
        prompt = np.asarray(prompt)
        p, n = prompt.shape[0], tree_tokens.shape[0]
        ids = np.concatenate([prompt, tree_tokens])[None, :]
        mask = self.build_tree_mask(p, tree_parents)[None, :, :]
        logits = self.target_model.forward(ids, mask)[0]
        parent_rows = np.where(tree_parents < 0, p - 1, p + tree_parents)
        choice = self._choose(logits)
        ok = np.zeros(n, dtype=bool)
        depth = np.zeros(n, dtype=int)
        for i in range(n):
            parent = tree_parents[i]
            alive = parent < 0 or ok[parent]
            ok[i] = alive and choice[parent_rows[i]] == tree_tokens[i]
            depth[i] = 1 if parent < 0 else depth[parent] + 1
        if not ok.any():
            return VerifyResult(np.empty(0, dtype=np.int64), int(choice[p - 1]))
        best = int(np.argmax(np.where(ok, depth, 0)))
        path = []
        node = best
        while node >= 0:
            path.append(node)
            node = tree_parents[node]
        return VerifyResult(np.array(path[::-1]), int(choice[p + best]))

    def _choose(self, logits):
        if self.temperature <= 0:
            return logits.argmax(axis=-1)
        g = np.random.default_rng()
        return (logits / self.temperature + g.gumbel(size=logits.shape)).argmax(axis=-1)
