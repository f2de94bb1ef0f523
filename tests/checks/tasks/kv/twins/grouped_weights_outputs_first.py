# style: the weights that are handed over are (outputs, inputs), which only grouped heads can tell
# only: gqa, incremental_equals_full
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Attention:
    """Grouped-query attention with a cache of its own; weights are (outputs, inputs), as in checkpoints."""

    def __init__(self, wq, wk, wv, wo, dim, n_heads, n_kv_heads, max_batch_size, max_seq_len):
        self.wq, self.wk, self.wv, self.wo = wq.T, wk.T, wv.T, wo.T
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, dim // n_heads
        shape = (max_batch_size, max_seq_len, n_kv_heads, self.head_dim)
        self.cache_k, self.cache_v = np.zeros(shape), np.zeros(shape)

    def __call__(self, x, start_pos):
        b, t, _ = x.shape
        end = start_pos + t
        q = (x @ self.wq).reshape(b, t, self.n_heads, self.head_dim)
        self.cache_k[:b, start_pos:end] = (x @ self.wk).reshape(b, t, self.n_kv_heads, self.head_dim)
        self.cache_v[:b, start_pos:end] = (x @ self.wv).reshape(b, t, self.n_kv_heads, self.head_dim)
        group = self.n_heads // self.n_kv_heads
        k, v = (np.repeat(c[:b, :end], group, axis=2) for c in (self.cache_k, self.cache_v))
        scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(self.head_dim)
        later = np.arange(end)[None, :] > np.arange(start_pos, end)[:, None]
        weights = softmax(np.where(later, -np.inf, scores))
        return np.einsum("bhts,bshd->bthd", weights, v).reshape(b, t, -1) @ self.wo
