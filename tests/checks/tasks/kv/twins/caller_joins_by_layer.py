# right: two layers share a dict {layer: (k, v)} that the caller keeps; new keys and values come back as a list
# only: incremental_equals_full, growth
import numpy as np


class TwoLayerDecoder:
    def __init__(self, d_model, num_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.heads = num_heads
        self.w = rng.standard_normal((2, 4, d_model, d_model)) * d_model**-0.5

    def _split(self, x):
        b, t, e = x.shape
        return x.reshape(b, t, self.heads, e // self.heads).transpose(0, 2, 1, 3)

    def forward(self, x, kv_cache=None):
        fresh = []
        for layer, (w_q, w_k, w_v, w_o) in enumerate(self.w):
            q, k, v = (self._split(x @ w) for w in (w_q, w_k, w_v))
            fresh.append((k, v))
            if kv_cache:
                k, v = (np.concatenate(pair, axis=2) for pair in zip(kv_cache[layer], (k, v)))
            scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
            t, s = scores.shape[-2:]
            scores = np.where(np.arange(s) <= np.arange(s - t, s)[:, None], scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = weights / weights.sum(-1, keepdims=True) @ v
            x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ w_o
        return x, fresh
