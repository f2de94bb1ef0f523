# style: full pages are shared by content and stay warm; attention is told where the first query stands
# passes: paged, incremental_equals_full, gqa, capacity, isolation, memory_model, variable_lengths
# only: paged, incremental_equals_full, gqa, capacity, isolation, memory_model, variable_lengths
"""Grouped-query self-attention over a PagedStore: one object per layer, weights inside."""
import numpy as np

from pages import OutOfPages, PagedStore


def attend(q, k, v, first=0):
    """Causal softmax attention. q (heads, t, d) at positions first.., k and v (kv_heads, s, d)."""
    heads, t, d = q.shape
    kv_heads, s, _ = k.shape
    k, v = (np.repeat(a, heads // kv_heads, axis=0) for a in (k, v))
    w = np.matmul(q, np.swapaxes(k, 1, 2)) * q.dtype.type(d ** -0.5)
    w[:, np.arange(s) > first + np.arange(t)[:, None]] = -np.inf
    w = np.exp(w - w.max(axis=2, keepdims=True))
    return np.matmul(w / w.sum(axis=2, keepdims=True), v)


class PagedSelfAttention:
    """y = Attention(x) Wo with x (t, d_model); K and V live in pages."""

    def __init__(self, d_model, heads, kv_heads=None, num_pages=64, page_size=4, dtype=np.float32, seed=0):
        kv_heads = kv_heads or heads
        if d_model % heads or heads % kv_heads:
            raise ValueError("d_model % heads and heads % kv_heads must be 0")
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, d_model // heads
        rng = np.random.default_rng(seed)
        mat = lambda n: (rng.standard_normal((d_model, n)) * d_model ** -0.5).astype(dtype)
        self.wq, self.wo = mat(d_model), mat(d_model)
        self.wk, self.wv = mat(kv_heads * self.head_dim), mat(kv_heads * self.head_dim)
        self.store = PagedStore(num_pages, page_size, kv_heads, self.head_dim, dtype)

    def _heads(self, y, n):
        return y.reshape(len(y), n, self.head_dim).transpose(1, 0, 2)

    def _project(self, x):
        return self._heads(x @ self.wq, self.heads), self._heads(x @ self.wk, self.kv_heads), \
            self._heads(x @ self.wv, self.kv_heads)

    def _merge(self, o):
        return o.transpose(1, 0, 2).reshape(o.shape[1], -1) @ self.wo

    def full(self, x):
        """No cache: the reference."""
        return self._merge(attend(*self._project(x)))

    def prefill(self, seq, x, chunk=None):
        """Open `seq` when it is new and append x (t, d_model). Further calls continue it."""
        opened = seq not in self.store
        if opened:
            self.store.open(seq)
        if self.store.pages_needed(seq, len(x)) > self.store.pages_free:
            if opened:
                self.store.close(seq)
            raise OutOfPages(f"no room for {len(x)} tokens of {seq!r}")
        out, chunk = [np.zeros((0, x.shape[1]), x.dtype)], chunk or max(1, len(x))
        for i in range(0, len(x), chunk):
            first = self.store.length(seq)
            q, k, v = self._project(x[i:i + chunk])
            self.store.extend(seq, k, v)
            out.append(self._merge(attend(q, *self.store.gather(seq), first)))
        return np.concatenate(out)

    def step(self, batch):
        """Decode one token for each of {seq: x (d_model,)}; returns {seq: y}. All or nothing."""
        if sum(self.store.pages_needed(s, 1) for s in batch) > self.store.pages_free:
            raise OutOfPages("not enough pages for this step")
        return {s: self.prefill(s, x[None])[0] for s, x in batch.items()}

    def finish(self, seq):
        self.store.close(seq)
