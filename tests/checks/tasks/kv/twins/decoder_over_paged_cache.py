# style: a layer with its projections over pages of its own; the pages' owner opens sequences, the layer does not
# only: incremental_equals_full
import numpy as np


class PagedKVCache:
    """Pages of all layers; a sequence is opened, and grows a page at a time."""

    def __init__(self, num_pages, page_size, num_layers, num_kv_heads, head_dim, dtype=np.float32):
        self.page_size = page_size
        self.data = np.zeros((num_layers, num_pages, page_size, 2, num_kv_heads, head_dim), dtype)
        self.spare = list(range(num_pages))
        self.pages, self.written, self.opened = {}, {}, 0

    def open(self):
        self.opened += 1
        self.pages[self.opened], self.written[self.opened] = [], np.zeros(len(self.data), int)
        return self.opened

    def close(self, seq):
        self.spare += self.pages.pop(seq)
        del self.written[seq]

    def append(self, seq, layer, k, v):
        """k, v (n, heads, width) go behind what the layer holds of the sequence."""
        start = self.written[seq][layer]
        end = start + len(k)
        short = -(-end // self.page_size) - len(self.pages[seq])
        if short > len(self.spare):
            raise MemoryError(f"{short} pages are wanted, {len(self.spare)} are left")
        self.pages[seq] += [self.spare.pop() for _ in range(short)]
        where = self._where(seq, np.arange(start, end))
        self.data[(layer, *where)] = np.stack([k, v], axis=1)
        self.written[seq][layer] = end

    def read(self, seq, layer):
        held = self.data[(layer, *self._where(seq, np.arange(self.written[seq][layer])))]
        return held[:, 0], held[:, 1]

    def _where(self, seq, at):
        return np.array(self.pages[seq], int)[at // self.page_size], at % self.page_size


class CachedAttention:
    """Projections, and attention over the pages."""

    def __init__(self, embed_dim, num_heads, num_kv_heads, seed=0, dtype=np.float32):
        rng = np.random.default_rng(seed)
        self.width, self.groups = embed_dim // num_heads, num_heads // num_kv_heads
        sizes = {"q": embed_dim, "k": num_kv_heads * self.width, "v": num_kv_heads * self.width, "o": embed_dim}
        self.weights = {n: (rng.normal(size=(embed_dim, m)) / np.sqrt(embed_dim)).astype(dtype) for n, m in sizes.items()}

    def prefill(self, cache, seq, x, layer=0):
        """x (n, embed_dim) follows what the sequence holds."""
        q, k, v = ((x @ self.weights[n]).reshape(len(x), -1, self.width) for n in "qkv")
        cache.append(seq, layer, k, v)
        keys, values = (np.repeat(side, self.groups, axis=1) for side in cache.read(seq, layer))
        scores = np.einsum("qhd,khd->hqk", q, keys) / np.sqrt(self.width).astype(x.dtype)
        scores = np.where(np.tri(len(x), len(keys), len(keys) - len(x), dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return np.einsum("hqk,khd->qhd", p, values).reshape(len(x), -1) @ self.weights["o"]

    def decode(self, cache, seqs, x):
        """One row of x for each sequence."""
        return np.concatenate([self.prefill(cache, seq, row[None]) for seq, row in zip(seqs, x, strict=True)])
