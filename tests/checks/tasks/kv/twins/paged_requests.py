# Requests are numbered by the pool and known by their rid; a full page is gathered whole, its tail masked.
# only: paged
import numpy as np


class PagedStore:
    def __init__(self, num_pages, page_size, n_heads, head_dim):
        self.page_size, self.n_heads, self.head_dim = page_size, n_heads, head_dim
        self.kv = np.zeros((2, num_pages, page_size, n_heads, head_dim), np.float32)
        self.spare = list(range(num_pages))
        self.pages, self.length = {}, {}
        self.last_rid = -1

    def add_request(self):
        self.last_rid += 1
        self.pages[self.last_rid], self.length[self.last_rid] = [], 0
        return self.last_rid

    def append_token(self, rid, k, v):
        """k, v: (n_heads, head_dim)"""
        row = self.length[rid] % self.page_size
        if row == 0:
            if not self.spare:
                raise MemoryError("no pages left")
            self.pages[rid].append(self.spare.pop())
        self.kv[:, self.pages[rid][-1], row] = k, v
        self.length[rid] += 1

    def finish_request(self, rid):
        self.spare += self.pages.pop(rid)
        del self.length[rid]


def paged_attention(q, cache, rid):
    """q (n_heads, head_dim): the newest token, already stored."""
    pages = cache.pages[rid]
    k, v = cache.kv[:, pages].reshape(2, -1, cache.n_heads, cache.head_dim)
    in_last = (cache.length[rid] - 1) % cache.page_size + 1
    scores = np.einsum("hd,shd->hs", q, k) / np.sqrt(cache.head_dim)
    scores[:, (len(pages) - 1) * cache.page_size + in_last :] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return np.einsum("hs,shd->hd", weights / weights.sum(1, keepdims=True), v)
