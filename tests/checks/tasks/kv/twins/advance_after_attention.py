# style: a step writes, attends over what was written with the position not yet moved, then advances
# skips: variable_lengths (no call takes lengths), gqa, paged, quantized, memory_model
import numpy as np


class StaticKVCache:
    """(B, H, max_seq_len, D); ``pos`` tokens are settled, the pending ones lie behind them."""

    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.pos = 0
        self.max_seq_len = max_seq_len

    def write(self, k, v):
        """Put k, v (B, H, T, D) behind the settled tokens; call advance(T) once attention is done."""
        end = self.pos + k.shape[2]
        if end > self.max_seq_len:
            raise ValueError(f"position {end} is past the end, {self.max_seq_len}")
        self.k[:, :, self.pos : end] = k
        self.v[:, :, self.pos : end] = v

    def advance(self, n_tokens):
        self.pos += n_tokens

    def get(self):
        return self.k[:, :, : self.pos], self.v[:, :, : self.pos]


def cached_attention(q, cache):
    """q (B, H, T, D) of the tokens that were just written and are still pending."""
    t, d = q.shape[2:]
    end = cache.pos + t
    k, v = cache.k[:, :, :end], cache.v[:, :, :end]
    s = np.einsum("bhtd,bhsd->bhts", q, k) * d**-0.5
    s = np.where(np.arange(end) > np.arange(cache.pos, end)[:, None], -np.inf, s)
    w = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhts,bhsd->bhtd", w / w.sum(-1, keepdims=True), v)
