# right: pages; a token comes with the keys of all layers, is asked for layer by layer, one sequence at a time
import numpy as np


class PagePool:
    def __init__(self, n_layers, n_pages, page_size, n_kv_heads, head_dim, dtype="float32"):
        self.data = np.zeros((n_pages, n_layers, 2, n_kv_heads, page_size, head_dim), dtype)
        self.spare = list(range(n_pages))
        self.pages, self.length = {}, {}

    def register(self, sid):
        self.pages[sid], self.length[sid] = [], 0

    def append(self, sid, k, v):
        """One token: (layers, heads, width)."""
        page, slot = divmod(self.length[sid], self.data.shape[4])
        if page == len(self.pages[sid]):
            if not self.spare:
                raise MemoryError("the pool is used up")
            self.pages[sid].append(self.spare.pop())
        at = self.pages[sid][page]
        self.data[at, :, 0, :, slot], self.data[at, :, 1, :, slot] = k, v
        self.length[sid] += 1

    def release(self, sid):
        self.spare += self.pages.pop(sid)
        del self.length[sid]

    def gather(self, sid, layer):
        """(heads, tokens, width)"""
        rows = self.data[self.pages[sid], layer]
        k, v = rows.transpose(1, 2, 0, 3, 4).reshape(2, rows.shape[2], -1, rows.shape[4])[:, :, :self.length[sid]]
        return k, v


def paged_decode_attention(q, cache, sid, layer):
    """(heads, width) of the newest token"""
    k, v = cache.gather(sid, layer)
    s = np.matmul(k, q[:, :, None])[:, :, 0] / q.shape[-1] ** 0.5
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.matmul((p / p.sum(-1, keepdims=True))[:, None], v)[:, 0]
