# bug: a page that a later prompt takes over is known by its own tokens, whatever stands in front of it
# caught by: incremental_equals_full
# only: incremental_equals_full, growth
import numpy as np


class Pages:
    """Rows of one layer, shared by all sequences, a page of them at a time."""

    def __init__(self, pages, size, width):
        self.size, self.k, self.v = size, np.zeros((pages, size, width)), np.zeros((pages, size, width))
        self.spare, self.users, self.known = list(range(pages)), [0] * pages, {}

    def name(self, before, ids):
        return tuple(ids)

    def take(self):
        page = self.spare.pop()
        self.known = {name: at for name, at in self.known.items() if at != page}
        self.users[page] = 1
        return page

    def keep(self, page):
        if not self.users[page]:
            self.spare.remove(page)
        self.users[page] += 1

    def drop(self, pages):
        for page in pages:
            self.users[page] -= 1
            if not self.users[page]:
                self.spare.insert(0, page)


class Server:
    """One layer of attention; prompts that begin alike are computed once."""

    def __init__(self, vocab_size=64, d_model=24, n_heads=2, max_len=80, block_size=4, num_blocks=96, seed=3):
        g = np.random.default_rng(seed)
        self.heads, self.width = n_heads, d_model // n_heads
        self.table, self.places = g.normal(size=(vocab_size, d_model)), g.normal(size=(max_len, d_model))
        self.q, self.k, self.v, self.o = g.normal(size=(4, d_model, d_model)) / d_model**0.5
        self.pages, self.live = Pages(num_blocks, block_size, d_model), {}

    def prefill(self, seq_id, tokens):
        """Logits of the last token; what stands in whole pages already is not computed again."""
        ids, size, before, owned = [int(t) for t in tokens], self.pages.size, None, []
        while (len(owned) + 1) * size < len(ids):
            before = self.pages.name(before, ids[len(owned) * size : (len(owned) + 1) * size])
            page = self.pages.known.get(before)
            if page is None:
                break
            self.pages.keep(page)
            owned.append(page)
        self.live[seq_id] = {"pages": owned, "ids": ids[: len(owned) * size]}
        return self.go_on(seq_id, ids[len(owned) * size :])

    def decode(self, seq_id, token):
        return self.go_on(seq_id, [int(token)])

    def free(self, seq_id):
        self.pages.drop(self.live.pop(seq_id)["pages"])

    def go_on(self, seq_id, ids):
        one, size = self.live[seq_id], self.pages.size
        first = len(one["ids"])
        one["ids"] = one["ids"] + ids
        while len(one["pages"]) * size < len(one["ids"]):
            one["pages"].append(self.pages.take())
        at = np.arange(first, len(one["ids"]))
        x = self.table[ids] + self.places[at]
        pages = np.array(one["pages"])
        self.pages.k[pages[at // size], at % size] = x @ self.k
        self.pages.v[pages[at // size], at % size] = x @ self.v
        past = np.arange(len(one["ids"]))
        kept = (rows[pages[past // size], past % size] for rows in (self.pages.k, self.pages.v))
        keys, values = (rows.reshape(len(past), self.heads, -1) for rows in kept)
        s = np.einsum("thd,shd->hts", (x @ self.q).reshape(len(ids), self.heads, -1), keys) / self.width**0.5
        s = np.where(past <= at[:, None], s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        y = np.einsum("hts,shd->thd", p / p.sum(-1, keepdims=True), values).reshape(len(ids), -1)
        self.learn(one)
        return (x + y @ self.o)[-1] @ self.table.T

    def learn(self, one):
        before, size = None, self.pages.size
        for n in range(len(one["ids"]) // size):
            before = self.pages.name(before, one["ids"][n * size : (n + 1) * size])
            self.pages.known.setdefault(before, one["pages"][n])
