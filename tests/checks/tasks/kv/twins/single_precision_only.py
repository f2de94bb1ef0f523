# style: what is not float32 is refused, and a mask of the sequences that go on has to be of bytes
# skips: chunked_prefill, gqa, paged, quantized, memory_model, variable_lengths (its mask is refused)
import numpy as np


class FloatCache:
    def __init__(self, batch, heads, max_len, head_dim):
        self.held = np.zeros((2, batch, heads, max_len, head_dim), np.float32)
        self.lens = np.zeros(batch, np.int64)

    def step(self, q, k, v, active=None):
        """One token of every active sequence: (B, H, D)."""
        if any(x.dtype != np.float32 for x in (q, k, v)):
            raise TypeError("queries, keys and values are float32 here")
        if active is None:
            active = np.ones(len(k), np.uint8)
        if active.dtype != np.uint8 and not active.all():
            raise TypeError("active is an array of bytes, one for every sequence")
        if (self.lens + active > self.held.shape[3]).any():
            raise OverflowError("a sequence is full")
        out = np.zeros_like(q)
        for b in np.flatnonzero(active):
            n = self.lens[b]
            self.held[0, b, :, n], self.held[1, b, :, n] = k[b], v[b]
            keys, values = self.held[:, b, :, : n + 1]
            s = np.einsum("hd,hsd->hs", q[b], keys) / np.sqrt(np.float32(q.shape[-1]))
            w = np.exp(s - s.max(-1, keepdims=True))
            out[b] = np.einsum("hs,hsd->hd", w / w.sum(-1, keepdims=True), values)
            self.lens[b] = n + 1
        return out
