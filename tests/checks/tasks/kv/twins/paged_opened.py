# Sequences are opened, pushed to, viewed and closed; a pool of half precision; the first page comes at once.
# only: paged
import numpy as np
class PagedKVCache:
    def __init__(self, n_pages, page_size, n_kv_heads, head_dim):
        self.pages = np.zeros((n_pages, 2, page_size, n_kv_heads, head_dim), np.float16)
        self.page_size = page_size
        self.free = list(range(n_pages))[::-1]
        self.seqs = {}
    def open(self, seq_id):
        if not self.free: raise RuntimeError("full")
        self.seqs[seq_id] = [[self.free.pop()], 0]
    def push(self, seq_id, k, v):
        """k, v: (n_kv_heads, head_dim)"""
        pages, n = self.seqs[seq_id]
        if n == len(pages) * self.page_size:
            if not self.free: raise RuntimeError("full")
            pages.append(self.free.pop())
        self.pages[pages[n // self.page_size], :, n % self.page_size] = np.stack([k, v])
        self.seqs[seq_id][1] = n + 1
    def view(self, seq_id):
        pages, n = self.seqs[seq_id]
        kv = self.pages[pages].transpose(1, 0, 2, 3, 4).reshape(2, -1, *self.pages.shape[3:])[:, :n]
        return kv[0], kv[1]
    def close(self, seq_id):
        self.free.extend(reversed(self.seqs.pop(seq_id)[0]))
