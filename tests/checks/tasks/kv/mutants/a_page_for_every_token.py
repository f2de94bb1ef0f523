# bug: a page is taken for every token, and one place of it is used
# caught by: paged
# passes: sharing
import numpy as np


class PagedKVCache:
    """Keys and values in pages of a pool; a page may belong to several sequences until one writes to it."""

    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.page_size = page_size
        self.keys = np.zeros((num_pages, page_size, num_heads, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.owners = np.zeros(num_pages, int)
        self.pages = {}
        self.sizes = {}

    def _page(self):
        free = np.flatnonzero(self.owners == 0)
        if not len(free):
            raise MemoryError("no page is free")
        self.owners[free[0]] = 1
        return int(free[0])

    def start(self, seq_id):
        if seq_id in self.pages:
            raise KeyError(f"{seq_id} is there already")
        self.pages[seq_id], self.sizes[seq_id] = [], 0

    def fork(self, parent_id, child_id):
        self.start(child_id)
        self.pages[child_id] = list(self.pages[parent_id])
        self.sizes[child_id] = self.sizes[parent_id]
        for page in self.pages[child_id]:
            self.owners[page] += 1

    def finish(self, seq_id):
        for page in self.pages.pop(seq_id):
            self.owners[page] -= 1
        del self.sizes[seq_id]

    def rollback(self, seq_id, n):
        if n > self.sizes[seq_id]:
            raise ValueError("not that many tokens")
        self.sizes[seq_id] -= n
        needed = self.sizes[seq_id]
        while len(self.pages[seq_id]) > needed:
            self.owners[self.pages[seq_id].pop()] -= 1

    def append(self, seq_id, key, value):
        """One token, (H, D)."""
        page_of = self.pages[seq_id]
        page_of.append(self._page())
        self.keys[page_of[-1], 0] = key
        self.values[page_of[-1], 0] = value
        self.sizes[seq_id] += 1

    def get(self, seq_id):
        """(S, H, D) keys and values."""
        n, pages = self.sizes[seq_id], self.pages[seq_id]
        return tuple(store[pages, 0][:n] for store in (self.keys, self.values))
