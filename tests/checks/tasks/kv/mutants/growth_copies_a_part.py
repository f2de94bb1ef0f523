# bug: where a shorter sequence overflows, growing copies only as many slots as that one holds
# caught by: variable_lengths, capacity
# passes: incremental_equals_full
"""An amortised, growable KV cache (std::vector style) with multi-layer attention on top.

Layout: ``keys`` and ``values`` are (layers, batch, capacity, kv_heads, head_dim).  Capacity starts
small and at least doubles when a sequence needs more room, so an append costs O(1) copies
on average and no maximum length has to be known in advance.
"""
from typing import List, Optional, Sequence, Tuple

import numpy as np

INITIAL_CAPACITY = 8  # tokens per sequence before the first reallocation


class GrowingKVCache:
    """One cache for all layers.  Lengths are per sequence; a step is closed by advance()."""

    def __init__(self, num_layers: int, batch_size: int, num_kv_heads: int, head_dim: int,
                 dtype=np.float64) -> None:
        if min(num_layers, batch_size, num_kv_heads, head_dim) < 1:
            raise ValueError("all sizes must be positive")
        shape = (num_layers, batch_size, INITIAL_CAPACITY, num_kv_heads, head_dim)
        self.keys = np.zeros(shape, dtype=dtype)
        self.values = np.zeros(shape, dtype=dtype)
        self.lengths: List[int] = [0] * batch_size

    @property
    def capacity(self) -> int:
        return self.keys.shape[2]

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    def _check(self, layer: int, seq: int) -> None:
        if not 0 <= seq < len(self.lengths):
            raise IndexError(f"unknown sequence {seq}")
        if not 0 <= layer < self.keys.shape[0]:
            raise IndexError(f"unknown layer {layer}")

    def _grow(self, live: int, needed: int) -> None:
        """Reallocate for `needed` tokens, carrying over the `live` slots (not the slack)."""
        capacity = max(needed, 2 * self.capacity)
        for name in ("keys", "values"):
            old = getattr(self, name)
            new = np.zeros(old.shape[:2] + (capacity,) + old.shape[3:], dtype=old.dtype)
            new[:, :, :live] = old[:, :, :live]
            setattr(self, name, new)

    def append(self, layer: int, seq: int, k: np.ndarray, v: np.ndarray) -> None:
        """Write k, v (n, kv_heads, head_dim) behind the tokens of `seq` in one layer."""
        self._check(layer, seq)
        expected = self.keys.shape[3:]
        if k.shape != v.shape or k.shape[1:] != expected:
            raise ValueError(f"expected (n, {expected[0]}, {expected[1]}), got {k.shape}, {v.shape}")
        start = self.lengths[seq]
        stop = start + len(k)
        if stop > self.capacity:
            self._grow(start, stop)
        self.keys[layer, seq, start:stop] = k
        self.values[layer, seq, start:stop] = v

    def advance(self, seq: int, n: int) -> None:
        """Count n tokens that every layer has appended."""
        self._check(0, seq)
        if self.lengths[seq] + n > self.capacity:
            raise ValueError("advance() past what was appended")
        self.lengths[seq] += n

    def view(self, layer: int, seq: int, pending: int = 0) -> Tuple[np.ndarray, np.ndarray]:
        """Keys and values (length + pending, kv_heads, head_dim), no copies."""
        self._check(layer, seq)
        end = self.lengths[seq] + pending
        return self.keys[layer, seq, :end], self.values[layer, seq, :end]

    def release(self, seq: int) -> None:
        """Empty a sequence; idempotent."""
        self._check(0, seq)
        self.lengths[seq] = 0


def causal_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, offset: int) -> np.ndarray:
    """q (n, H, d) at absolute positions offset...; k, v (S, G, d) -> (n, H, d)."""
    n, heads, d = q.shape
    owner = np.arange(heads) // (heads // k.shape[1])
    scores = np.einsum("nhd,shd->hns", q, k[:, owner]) / np.sqrt(d)
    visible = np.arange(len(k))[None, :] <= offset + np.arange(n)[:, None]
    scores = np.where(visible[None], scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("hns,shd->nhd", scores / scores.sum(-1, keepdims=True), v[:, owner])


class AttentionStack:
    """Residual attention layers with fixed random projections; the cache is owned by the caller."""

    def __init__(self, num_layers=2, width=16, heads=4, kv_heads=2, head_dim=4, seed=0) -> None:
        rng = np.random.default_rng(seed)
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        cols = [heads * head_dim, kv_heads * head_dim, kv_heads * head_dim]
        self.layers = [([rng.normal(0, width ** -0.5, (width, c)) for c in cols],
                        rng.normal(0, width ** -0.5, (heads * head_dim, width)))
                       for _ in range(num_layers)]

    def make_cache(self, batch_size: int) -> GrowingKVCache:
        return GrowingKVCache(len(self.layers), batch_size, self.kv_heads, self.head_dim)

    def prefill(self, x: np.ndarray, cache: GrowingKVCache, seq: int = 0) -> np.ndarray:
        """x (n, width): the next n tokens of `seq` (a whole prompt or a chunk) -> (n, width)."""
        n, offset = len(x), cache.lengths[seq]
        for i, ((wq, wk, wv), wo) in enumerate(self.layers):
            q, k, v = ((x @ w).reshape(n, -1, self.head_dim) for w in (wq, wk, wv))
            cache.append(i, seq, k, v)
            keys, values = cache.view(i, seq, pending=n)
            x = x + causal_attention(q, keys, values, offset).reshape(n, -1) @ wo
        cache.advance(seq, n)
        return x

    def decode_step(self, x: np.ndarray, cache: GrowingKVCache,
                    seqs: Optional[Sequence[int]] = None) -> np.ndarray:
        """One token for each sequence in `seqs` (default all): x (len(seqs), width)."""
        seqs = range(len(cache.lengths)) if seqs is None else seqs
        return np.stack([self.prefill(row[None], cache, s)[0] for row, s in zip(x, seqs)])


def bytes_per_token(num_layers: int, num_kv_heads: int, head_dim: int, itemsize: int = 2) -> int:
    return 2 * num_layers * num_kv_heads * head_dim * itemsize
