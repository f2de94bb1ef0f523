# style: a prompt opens its sequence, which may be open once; tokens of a window stand in pages, one by one
# warns: capacity (a window forgets)
# only: capacity, incremental_equals_full
import numpy as np


class PagesOfAWindow:
    """Keys and values of the newest `reach` tokens of each sequence, in pages of one pool."""

    def __init__(self, pages, per_page, heads, dim, reach):
        self.per_page, self.reach = per_page, reach
        self.pool = np.zeros((2, pages, per_page, heads, dim))
        self.spare = list(range(pages))
        self.of = {}

    def open(self, name):
        if name in self.of:
            raise KeyError(f"{name} is open already")
        self.of[name] = {"pages": [], "gone": 0, "length": 0}

    def close(self, name):
        self.spare += self.of.pop(name)["pages"]

    def store(self, name, k, v):
        """One token: k and v (heads, dim)."""
        mine = self.of[name]
        page, slot = divmod(mine["length"], self.per_page)
        if page - mine["gone"] == len(mine["pages"]):
            if not self.spare:
                raise MemoryError("every page is taken")
            mine["pages"].append(self.spare.pop())
        self.pool[:, mine["pages"][page - mine["gone"]], slot] = k, v
        mine["length"] += 1
        while (mine["gone"] + 1) * self.per_page <= mine["length"] - self.reach:
            self.spare.append(mine["pages"].pop(0))
            mine["gone"] += 1

    def look(self, name, q):
        """What the query (heads, dim) of the newest token sees: (heads, dim)."""
        mine = self.of[name]
        seen = np.arange(max(mine["length"] - self.reach, 0), mine["length"])
        pages = np.array(mine["pages"])[seen // self.per_page - mine["gone"]]
        k, v = self.pool[:, pages, seen % self.per_page]
        s = (q * k).sum(-1) / np.sqrt(q.shape[-1])
        p = np.exp(s - s.max(axis=0))
        return ((p / p.sum(axis=0))[..., None] * v).sum(axis=0)


class WindowLayer:
    def __init__(self, d_model=24, num_heads=4, window=8, page_size=4, num_pages=64, seed=0):
        draw = np.random.default_rng(seed)
        self.heads, self.dim = num_heads, d_model // num_heads
        self.wq, self.wk, self.wv, self.wo = draw.normal(size=(4, d_model, d_model)) / np.sqrt(d_model)
        self.kept = PagesOfAWindow(num_pages, page_size, num_heads, self.dim, window)

    def _split(self, x):
        return x.reshape(self.heads, self.dim)

    def decode(self, seq_id, x):
        """The next token x (d_model,) of a sequence: (d_model,)."""
        self.kept.store(seq_id, self._split(x @ self.wk), self._split(x @ self.wv))
        return self.kept.look(seq_id, self._split(x @ self.wq)).ravel() @ self.wo

    def prefill(self, seq_id, x):
        """A prompt x (n, d_model) of a new sequence: (n, d_model)."""
        self.kept.open(seq_id)
        return np.stack([self.decode(seq_id, row) for row in x])
