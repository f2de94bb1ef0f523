# bug: the layer scales its scores by the width of the model, not of a head
# caught by: incremental_equals_full
import numpy as np


class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads, max_seq_len, seed=0):
        r = np.random.RandomState(seed)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (r.randn(embed_dim, embed_dim) / embed_dim**0.5 for _ in range(4))
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.scale = 1.0 / np.sqrt(embed_dim)
        self.max_seq_len = max_seq_len
        self.k_cache = self.v_cache = None
        self.pos = 0

    def _split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(0, 2, 1, 3)

    def prefill(self, x):
        self.pos = 0
        shape = (x.shape[0], self.num_heads, self.max_seq_len, self.head_dim)
        self.k_cache, self.v_cache = np.zeros(shape, x.dtype), np.zeros(shape, x.dtype)
        return self.decode(x)

    def decode(self, x):
        end = self.pos + x.shape[1]
        self.k_cache[:, :, self.pos : end] = self._split(x @ self.k_proj)
        self.v_cache[:, :, self.pos : end] = self._split(x @ self.v_proj)
        s = np.einsum("bhqd,bhkd->bhqk", self._split(x @ self.q_proj), self.k_cache[:, :, :end]) * self.scale
        s = np.where(np.arange(end) <= self.pos + np.arange(x.shape[1])[:, None], s, -1e30)
        self.pos = end
        w = np.exp(s - s.max(-1, keepdims=True))
        y = np.einsum("bhqk,bhkd->bhqd", w / w.sum(-1, keepdims=True), self.v_cache[:, :, :end])
        return y.transpose(0, 2, 1, 3).reshape(x.shape) @ self.out_proj
