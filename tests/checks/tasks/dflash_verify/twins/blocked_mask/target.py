"""A small deterministic target language model.

One ALiBi attention block plus an MLP.  ALiBi makes the score of a pair depend on
the *distance* of the two tokens, so handing over wrong positions for the tree
nodes would change the logits -- a useful property for testing verification.
"""

import numpy as np


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


class AlibiTarget:
    """``log_probs(ids, blocked, positions) -> (len(ids), vocab_size)``."""

    def __init__(self, vocab_size=40, width=24, n_heads=3, seed=0):
        g = np.random.default_rng(seed)
        self.vocab_size, self.width, self.n_heads = vocab_size, width, n_heads
        self.emb = g.standard_normal((vocab_size, width))
        self.wq, self.wk, self.wv, self.wo = g.standard_normal((4, width, width)) * 1.3 / np.sqrt(width)
        self.w1 = g.standard_normal((width, 3 * width)) / np.sqrt(width)
        self.w2 = g.standard_normal((3 * width, width)) / np.sqrt(3 * width)
        self.unembed = g.standard_normal((width, vocab_size)) * 2.0 / np.sqrt(width)
        self.slopes = 0.5 ** np.arange(1, n_heads + 1)

    def log_probs(self, ids, blocked, positions):
        ids = np.asarray(ids, dtype=np.int64)
        positions = np.asarray(positions, dtype=np.float64)
        length, d = len(ids), self.width // self.n_heads
        x = self.emb[ids]

        def split(t):
            return t.reshape(length, self.n_heads, d)

        q, k, v = split(x @ self.wq), split(x @ self.wk), split(x @ self.wv)
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(d)
        distance = positions[:, None] - positions[None, :]
        scores -= self.slopes[:, None, None] * distance
        scores[:, blocked] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        x = x + np.einsum("hqk,khd->qhd", weights, v).reshape(length, self.width) @ self.wo
        x = x + np.tanh(x @ self.w1) @ self.w2
        return log_softmax(x @ self.unembed)

    def next_token_log_probs(self, ids):
        """Ordinary autoregressive use: log-probabilities after the last token."""
        n = len(ids)
        return self.log_probs(ids, ~np.tri(n, dtype=bool), np.arange(n))[-1]
