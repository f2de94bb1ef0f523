# bug: a query head attends with the keys of the next head; pages go in heads first and come back tokens first
# caught by: incremental_equals_full
import numpy as np


class PagedStore:
    def __init__(self, n_pages, page_size, n_heads, head_dim):
        self.pages = np.zeros((n_pages, page_size, 2, n_heads, head_dim), np.float32)
        self.idle = list(range(n_pages))
        self.table, self.tokens = {}, {}

    def new_sequence(self, seq_id):
        self.table[seq_id] = []
        self.tokens[seq_id] = 0

    def write(self, seq_id, k, v):
        """k, v: (H, T, D)"""
        size = self.pages.shape[1]
        for t in range(k.shape[1]):
            at = self.tokens[seq_id]
            if at % size == 0:
                if not self.idle:
                    raise MemoryError("out of pages")
                self.table[seq_id].append(self.idle.pop(0))
            self.pages[self.table[seq_id][-1], at % size] = k[:, t], v[:, t]
            self.tokens[seq_id] = at + 1

    def read(self, seq_id):
        """(S, H, D)"""
        rows = np.concatenate([self.pages[p] for p in self.table[seq_id]])[: self.tokens[seq_id]]
        return rows[:, 0], rows[:, 1]

    def release(self, seq_id):
        self.idle.extend(self.table.pop(seq_id))
        del self.tokens[seq_id]


def paged_attention(q, cache, seq_id):
    """q: (H, D)"""
    if q.ndim != 2:
        raise ValueError("one token at a time")
    k, v = cache.read(seq_id)
    k = np.roll(k, -1, axis=1)
    scores = np.einsum("hd,shd->sh", q, k) / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=0))
    return np.einsum("sh,shd->hd", weights / weights.sum(axis=0), v)
