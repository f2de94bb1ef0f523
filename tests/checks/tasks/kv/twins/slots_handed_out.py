# style: rows of one buffer are handed out, and given back; what a row held is overwritten when it is next taken
# skips: paged, quantized, memory_model, purity, gqa
import numpy as np


class SlotKVCache:
    def __init__(self, max_batch_size, max_seq_len, n_heads, head_dim, dtype=np.float32):
        self.data = np.zeros((max_batch_size, max_seq_len, 2, n_heads, head_dim), dtype)
        self.filled = {}
        self.idle = list(range(max_batch_size))

    def acquire_slot(self):
        if not self.idle:
            raise RuntimeError("every slot is taken")
        slot = self.idle.pop(0)
        self.filled[slot] = 0
        return slot

    def release_slot(self, slot):
        if slot not in self.filled:
            raise KeyError(f"slot {slot} is not taken")
        del self.filled[slot]
        self.idle.append(slot)

    def append(self, slot, k, v):
        """k, v: (T, n_heads, head_dim)"""
        start, end = self.filled[slot], self.filled[slot] + len(k)
        if end > self.data.shape[1]:
            raise ValueError(f"slot {slot} is full")
        self.data[slot, start:end, 0], self.data[slot, start:end, 1] = k, v
        self.filled[slot] = end

    def read(self, slot):
        rows = self.data[slot, : self.filled[slot]]
        return rows[:, 0], rows[:, 1]


def attend(q, cache, slot):
    """q: (T, n_heads, head_dim), the newest T tokens of a slot"""
    k, v = cache.read(slot)
    scores = np.einsum("thd,shd->hts", q, k) / np.sqrt(q.shape[-1])
    own = np.arange(len(k) - len(q), len(k))
    scores = np.where(np.arange(len(k))[None] > own[:, None], -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hts,shd->thd", weights / weights.sum(-1, keepdims=True), v)
