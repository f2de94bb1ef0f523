# right: a layer is a function of its input, a cache and a dict of weights
# only: incremental_equals_full, growth
import numpy as np


class KVStore:
    def __init__(self, batch_size, num_heads, max_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_len, head_dim))
        self.v, self.n = np.zeros_like(self.k), 0

    def put(self, k, v):
        end = self.n + k.shape[2]
        if end > self.k.shape[2]:
            raise IndexError("no room is left")
        self.k[:, :, self.n : end], self.v[:, :, self.n : end], self.n = k, v, end
        return self.k[:, :, :end], self.v[:, :, :end]


def layer_forward_with_cache(x, cache, W_q, W_k, W_v, W_o):
    b, t, e = x.shape
    heads = cache.k.shape[1]
    q, k, v = ((x @ w).reshape(b, t, heads, -1).transpose(0, 2, 1, 3) for w in (W_q, W_k, W_v))
    k, v = cache.put(k, v)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    s = k.shape[2]
    scores = np.where(np.arange(s) > np.arange(s - t, s)[:, None], -1e30, scores)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(b, t, -1) @ W_o
