# A layer with projections: forward(x, past) gives the output and the new past.
# skips: cache_size_minimality (hidden vectors go in), isolation (hidden vectors go in), capacity (hidden vectors go in), variable_lengths (no call takes lengths)
import numpy as np


class CausalSelfAttention:
    def __init__(self, d_model, num_heads, seed=0):
        rng = np.random.RandomState(seed)
        self.h = num_heads
        self.W = {name: rng.randn(d_model, d_model) / np.sqrt(d_model) for name in "qkvo"}

    def forward(self, x, past=None):
        B, T, E = x.shape
        q, k, v = ((x @ self.W[n]).reshape(B, T, self.h, -1).transpose(0, 2, 1, 3) for n in "qkv")
        if past is not None:
            k, v = (np.concatenate([old, new], axis=2) for old, new in zip(past, (k, v)))
        S = k.shape[2]
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(E // self.h)
        scores = np.where(np.arange(S) <= np.arange(S - T, S)[:, None], scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        y = (p / p.sum(-1, keepdims=True)) @ v
        return y.transpose(0, 2, 1, 3).reshape(B, T, E) @ self.W["o"], (k, v)
