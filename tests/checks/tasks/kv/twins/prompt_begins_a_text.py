# style: a prompt begins a text anew, whatever was there; steps go on behind it
# only: chunked_prefill, incremental_equals_full, capacity
# skips: chunked_prefill
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.kv = np.zeros((2, batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.used = 0

    def prefill(self, q, k, v):
        """The prompt of a new text, (B, H, T, D) each."""
        self.used = 0
        return self._append_and_attend(q, k, v)

    def step(self, q, k, v):
        """The next token of the text, (B, H, 1, D) each."""
        return self._append_and_attend(q, k, v)

    def _append_and_attend(self, q, k, v):
        start, end = self.used, self.used + k.shape[2]
        if end > self.kv.shape[3]:
            raise ValueError(f"no room for {end} tokens")
        self.kv[0, :, :, start:end], self.kv[1, :, :, start:end] = k, v
        self.used = end
        s = q @ self.kv[0, :, :, :end].swapaxes(2, 3) / q.shape[-1] ** 0.5
        s += np.where(np.arange(end) > np.arange(start, end)[:, None], -np.inf, 0.0)
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        return s @ self.kv[1, :, :, :end] / s.sum(axis=-1, keepdims=True)
