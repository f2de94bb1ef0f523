# right: a request comes with the keys and values of its prompt, whose full pages are found again
# only: paged, sharing, incremental_equals_full, capacity
import numpy as np


class NoRoom(RuntimeError):
    """Every page is in use."""


class PrefixPages:
    """Pages of keys and values; a prompt is handed over whole, and full pages of it may be another's."""

    def __init__(self, n_pages, page_size, n_heads, head_dim, dtype=np.float32):
        self.page_size = page_size
        self.k = np.zeros((n_pages, page_size, n_heads, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.idle, self.users = list(range(n_pages)), [0] * n_pages
        self.known, self.holds = {}, {}
        self.pages, self.length = {}, {}

    def _take(self):
        if not self.idle:
            raise NoRoom("no page is free")
        page = self.idle.pop(0)
        if page in self.holds:
            del self.known[self.holds.pop(page)]
        self.users[page] = 1
        return page

    def register(self, rid, prompt_ids, keys, values):
        """A request with its prompt; keys, values (T, H, D)."""
        if rid in self.pages:
            raise KeyError(f"{rid} is there already")
        ids, size, mine = [int(t) for t in prompt_ids], self.page_size, []
        for start in range(0, len(ids), size):
            end = min(start + size, len(ids))
            key = tuple(ids[:end]) if end - start == size else None
            page = self.known.get(key) if key is not None else None
            if page is not None:
                if self.users[page] == 0:
                    self.idle.remove(page)
                self.users[page] += 1
            else:
                try:
                    page = self._take()
                except NoRoom:
                    for each in mine:
                        self._let_go(each)
                    raise
                self.k[page, : end - start], self.v[page, : end - start] = keys[start:end], values[start:end]
                if key is not None:
                    self.known[key], self.holds[page] = page, key
            mine.append(page)
        self.pages[rid], self.length[rid] = mine, len(ids)

    def append(self, rid, k, v):
        """The next token, (H, D) each."""
        n = self.length[rid]
        if n % self.page_size == 0:
            self.pages[rid].append(self._take())
        page = self.pages[rid][-1]
        self.k[page, n % self.page_size], self.v[page, n % self.page_size] = k, v
        self.length[rid] = n + 1

    def _let_go(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.idle.append(page)

    def release(self, rid):
        for page in self.pages.pop(rid):
            self._let_go(page)
        del self.length[rid]

    def read(self, rid):
        """(T, H, D) each."""
        flat = [x[self.pages[rid]].reshape(-1, *x.shape[2:]) for x in (self.k, self.v)]
        return flat[0][: self.length[rid]], flat[1][: self.length[rid]]


def paged_attention(q, cache, rid):
    """q: (H, D)."""
    k, v = cache.read(rid)
    s = np.einsum("hd,thd->ht", q, k) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("ht,thd->hd", p / p.sum(-1, keepdims=True), v)
