# style: methods of an immutable cache give the next one; step_done(), told nothing, settles what is pending
# skips: variable_lengths, gqa, paged, quantized, memory_model, purity
import numpy as np


class KVCache:
    __slots__ = ("_k", "_v", "_pending", "length")

    def __init__(self, n_layers, batch_size, max_seq_len, n_heads, head_dim):
        self._k = np.zeros((n_layers, batch_size, max_seq_len, n_heads, head_dim), np.float32)
        self._v, self._pending, self.length = self._k, 0, 0

    def _with(self, **parts):
        other = object.__new__(KVCache)
        for name in KVCache.__slots__:
            setattr(other, name, parts.get(name, getattr(self, name)))
        return other

    def write(self, layer, k, v):
        """(B, T, H, D) → the cache in which they are pending."""
        t = k.shape[1]
        if self.length + t > self._k.shape[2]:
            raise ValueError(f"cannot take {t} tokens on top of {self.length}")
        ks, vs = self._k.copy(), self._v.copy()
        ks[layer, :, self.length : self.length + t] = k
        vs[layer, :, self.length : self.length + t] = v
        return self._with(_k=ks, _v=vs, _pending=t)

    def step_done(self):
        return self._with(length=self.length + self._pending, _pending=0)

    def attention(self, layer, q):
        """q (B, T, H, D) of the pending tokens."""
        end = self.length + self._pending
        s = np.einsum("bthd,bshd->bhts", q, self._k[layer, :, :end]) * q.shape[-1] ** -0.5
        ahead = np.arange(end)[None] - np.arange(end - q.shape[1], end)[:, None] > 0
        s = np.exp(np.where(ahead, -np.inf, s - s.max(-1, keepdims=True)))
        return np.einsum("bhts,bshd->bthd", s / s.sum(-1, keepdims=True), self._v[layer, :, :end])
