# bug: reading takes the blocks behind the first one, as if a sequence's blocks lay side by side
# caught by: paged
import numpy as np


class PagedCache:
    def __init__(self, pages, page_size, heads, head_dim):
        self.pool = np.zeros((2, pages * page_size, heads, head_dim), np.float32)
        self.page_size = page_size
        self.free_pages = list(range(pages))[::-1]
        self.tables, self.used = {}, {}

    def write(self, seq, k, v):
        """k, v: (heads, head_dim), one token."""
        n = self.used.get(seq, 0)
        table = self.tables.setdefault(seq, [])
        if n % self.page_size == 0:
            if not self.free_pages:
                raise MemoryError("out of pages")
            table.append(self.free_pages.pop())
        at = table[-1] * self.page_size + n % self.page_size
        self.pool[0, at], self.pool[1, at] = k, v
        self.used[seq] = n + 1

    def read(self, seq):
        first = self.tables[seq][0] * self.page_size
        rows = self.pool[:, first : first + self.used[seq]]
        return rows[0], rows[1]

    def release(self, seq):
        self.free_pages.extend(reversed(self.tables.pop(seq, [])))
        self.used.pop(seq, None)
