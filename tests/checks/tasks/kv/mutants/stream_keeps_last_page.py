# bug: a sequence that goes keeps its last page
# caught by: paged
# passes: incremental_equals_full
import numpy as np


class PageAllocator:
    def __init__(self, n_pages, page_size, n_heads, head_size):
        self.page_size = page_size
        self.keys = np.zeros((n_pages, page_size, n_heads, head_size), np.float32)
        self.values = np.zeros_like(self.keys)
        self.users = [0] * n_pages

    def take(self):
        for page, users in enumerate(self.users):
            if not users:
                self.users[page] = 1
                return page
        raise MemoryError("every page is taken")


class Stream:
    """The tokens of one sequence."""

    def __init__(self, allocator: PageAllocator):
        self.allocator, self.pages, self.length = allocator, [], 0

    def append(self, k, v):
        """k, v: (heads, head size)."""
        pool = self.allocator
        if self.length == len(self.pages) * pool.page_size:
            self.pages.append(pool.take())
        elif pool.users[self.pages[-1]] > 1:
            page = pool.take()
            for kept in (pool.keys, pool.values):
                kept[page] = kept[self.pages[-1]]
            pool.users[self.pages[-1]] -= 1
            self.pages[-1] = page
        at = self.pages[-1], self.length % pool.page_size
        pool.keys[at], pool.values[at] = k, v
        self.length += 1

    def gather(self):
        pool = self.allocator
        joined = (kept[self.pages].reshape(-1, *kept.shape[2:]) for kept in (pool.keys, pool.values))
        return tuple(each[: self.length] for each in joined)

    def fork(self):
        child = Stream(self.allocator)
        child.pages, child.length = list(self.pages), self.length
        for page in child.pages:
            self.allocator.users[page] += 1
        return child

    def release(self):
        while len(self.pages) > 1:
            self.allocator.users[self.pages.pop()] -= 1
        self.length = 0


def attend(q, seq):
    """q: (heads, head size)."""
    keys, values = seq.gather()
    score = np.einsum("hd,nhd->hn", q, keys) / np.sqrt(q.shape[-1])
    weight = np.exp(score - score.max(-1, keepdims=True))
    return np.einsum("hn,nhd->hd", weight / weight.sum(-1, keepdims=True), values)
