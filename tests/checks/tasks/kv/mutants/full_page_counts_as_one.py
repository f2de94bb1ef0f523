# bug: a last page that is exactly full is attended to as if it held one token
# caught by: paged
import numpy as np


class PagePool:
    def __init__(self, num_pages, page_size, n_heads, head_dim):
        self.page_size, self.n_heads, self.head_dim = page_size, n_heads, head_dim
        self.kv = np.zeros((2, num_pages, page_size, n_heads, head_dim), np.float32)
        self.spare = list(range(num_pages))
        self.pages, self.length = {}, {}
        self.last_sid = -1

    def open_sequence(self):
        self.last_sid += 1
        self.pages[self.last_sid], self.length[self.last_sid] = [], 0
        return self.last_sid

    def append_token(self, sid, k, v):
        """k, v: (n_heads, head_dim)"""
        row = self.length[sid] % self.page_size
        if row == 0:
            if not self.spare:
                raise MemoryError("no pages left")
            self.pages[sid].append(self.spare.pop())
        self.kv[:, self.pages[sid][-1], row] = k, v
        self.length[sid] += 1

    def close_sequence(self, sid):
        self.spare += self.pages.pop(sid)
        del self.length[sid]


def paged_attention(q, cache, sid):
    """q (n_heads, head_dim): the newest token, already stored."""
    pages = cache.pages[sid]
    k, v = cache.kv[:, pages].reshape(2, -1, cache.n_heads, cache.head_dim)
    in_last = max(cache.length[sid] % cache.page_size, 1)
    scores = np.einsum("hd,shd->hs", q, k) / np.sqrt(cache.head_dim)
    scores[:, (len(pages) - 1) * cache.page_size + in_last :] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return np.einsum("hs,shd->hd", weights / weights.sum(1, keepdims=True), v)
