# style: every active slot takes one token per call; slots are reset by their number
# skips: chunked_prefill, gqa, paged, quantized, memory_model, purity
import numpy as np

class SlotCache:
    def __init__(self, n_slots, n_kv_heads, max_len, head_dim):
        self.k = np.zeros((n_slots, max_len, n_kv_heads, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.pos = np.zeros(n_slots, int)

    def reset(self, slot):
        self.pos[slot] = 0

    def append_batch(self, k, v, active=None):
        """k, v (n_slots, H, D): one token for every active slot."""
        idx = np.arange(len(self.pos)) if active is None else np.flatnonzero(active)
        if (self.pos[idx] >= self.k.shape[1]).any():
            raise RuntimeError("slot full")
        self.k[idx, self.pos[idx]] = k[idx]
        self.v[idx, self.pos[idx]] = v[idx]
        self.pos[idx] += 1

    def attend(self, q):
        """q (n_slots, H, D)"""
        S = self.k.shape[1]
        s = np.einsum("bhd,bshd->bhs", q, self.k) / np.sqrt(q.shape[-1])
        s = np.where(np.arange(S)[None, None] < self.pos[:, None, None], s, -np.inf)
        e = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("bhs,bshd->bhd", e / e.sum(-1, keepdims=True), self.v)
