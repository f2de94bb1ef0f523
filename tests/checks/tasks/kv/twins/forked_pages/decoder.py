# style: pages with copy-on-write forks in a pool that doubles; an attention stack over it takes prompts in chunks
# passes: paged, incremental_equals_full, chunked_prefill, gqa, capacity
# skips: isolation (nothing past a length)
"""A residual stack of attention layers that decodes from a :class:`PagedKVCache`."""
from __future__ import annotations

import numpy as np

from paged_kv import PagedKVCache, paged_attention


class AttentionStack:
    """``x <- x + Wo . MHA(x)`` per layer; the cache is owned by the caller."""

    def __init__(self, d_model: int, heads: int, kv_heads: int | None = None,
                 layers: int = 2, seed: int = 0, dtype=np.float64):
        kv_heads = heads if kv_heads is None else kv_heads
        if d_model % heads or heads % kv_heads:
            raise ValueError("heads must divide d_model, kv_heads must divide heads")
        self.heads, self.kv_heads, self.head_dim, self.layers = heads, kv_heads, d_model // heads, layers
        self.dtype = np.dtype(dtype)
        rng = np.random.default_rng(seed)
        d, e = d_model, kv_heads * self.head_dim
        self.weights = [tuple((rng.normal(size=s) / d ** 0.5).astype(dtype)
                              for s in ((d, d), (d, e), (d, e), (d, d))) for _ in range(layers)]

    def new_cache(self, page_size: int = 16, max_pages: int = 1024) -> PagedKVCache:
        return PagedKVCache(layers=self.layers, kv_heads=self.kv_heads, head_dim=self.head_dim,
                            page_size=page_size, max_pages=max_pages, dtype=self.dtype)

    def prefill(self, cache: PagedKVCache, seq: int, x: np.ndarray, chunk: int | None = None) -> np.ndarray:
        """Feed (T, d_model) tokens of one sequence, at once or in chunks; returns (T, d_model)."""
        x = np.asarray(x, self.dtype)
        chunk = chunk or max(len(x), 1)
        outs = [self._run(cache, seq, x[i:i + chunk]) for i in range(0, len(x), chunk)]
        return np.concatenate(outs) if outs else x.copy()

    def decode(self, cache: PagedKVCache, seqs: list[int], x: np.ndarray) -> np.ndarray:
        """One token for each of ``seqs`` (any lengths): x (n, d_model) -> (n, d_model)."""
        return np.stack([self._run(cache, s, np.asarray(row, self.dtype)[None])[0]
                         for s, row in zip(seqs, x, strict=True)])

    def _run(self, cache, seq, x):
        T, D = len(x), self.head_dim
        for layer, (wq, wk, wv, wo) in enumerate(self.weights):
            cache.append(seq, layer, (x @ wk).reshape(T, -1, D), (x @ wv).reshape(T, -1, D))
            o = paged_attention(cache, seq, layer, (x @ wq).reshape(T, -1, D))
            x = x + o.reshape(T, -1) @ wo
        return x

    def forward_full(self, x: np.ndarray) -> np.ndarray:
        """The same network without any cache: dense causal recomputation of (T, d_model)."""
        x = np.asarray(x, self.dtype)
        T, D = len(x), self.head_dim
        for wq, wk, wv, wo in self.weights:
            q, k, v = ((x @ w).reshape(T, -1, D).swapaxes(0, 1) for w in (wq, wk, wv))
            k, v = (np.repeat(a, self.heads // self.kv_heads, axis=0) for a in (k, v))
            s = q @ k.swapaxes(1, 2) / np.sqrt(D)
            s[:, np.triu(np.ones((T, T), bool), 1)] = -np.inf
            w = np.exp(s - s.max(-1, keepdims=True))
            o = (w / w.sum(-1, keepdims=True)) @ v
            x = x + (o.swapaxes(0, 1).reshape(T, -1) @ wo).astype(self.dtype)
        return x
