# style: pages with forks, a null block, numbers from 1, and lists of ragged arrays
# passes: paged, incremental_equals_full, gqa, capacity, memory_model, variable_lengths
"""Multi-head attention over a :class:`PagedKVCache`; ragged batches are lists of (T_i, d_model) arrays."""
from __future__ import annotations

from typing import Sequence

import numpy as np

from paged_kv import PagedKVCache


def causal_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q (T, H, D) are the last T positions of k, v (S, Hkv, D), S >= T.  Returns (T, H, D) in q's dtype."""
    t, heads, dim = q.shape
    s, kv_heads, _ = k.shape
    qg = q.transpose(1, 0, 2).reshape(kv_heads, heads // kv_heads * t, dim)
    logits = (qg @ k.transpose(1, 2, 0) / np.sqrt(dim).astype(q.dtype)).reshape(heads, t, s)
    if t > 1:
        logits = np.where(np.tri(t, s, s - t, dtype=bool), logits, -np.inf)
    logits = logits - logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    out = weights.reshape(kv_heads, -1, s) @ v.transpose(1, 0, 2)
    return out.reshape(heads, t, dim).transpose(1, 0, 2)


class PagedMultiHeadAttention:
    """Projection weights are given by the caller, ``(in, out)`` each; heads are consecutive slices of the out axis."""

    def __init__(self, wq: np.ndarray, wk: np.ndarray, wv: np.ndarray, wo: np.ndarray, num_heads: int, layer: int = 0):
        self.wq, self.wk, self.wv, self.wo = wq, wk, wv, wo
        self.num_heads, self.layer = num_heads, layer
        self.head_dim = wq.shape[1] // num_heads
        self.num_kv_heads = wk.shape[1] // self.head_dim
        if num_heads % self.num_kv_heads:
            raise ValueError("the query heads must be a multiple of the kv heads")

    @classmethod
    def random(cls, rng: np.random.Generator, d_model: int, num_heads: int, num_kv_heads: int, layer: int = 0,
               dtype=np.float32) -> "PagedMultiHeadAttention":
        kv = d_model // num_heads * num_kv_heads
        ws = [(rng.standard_normal(s) / d_model ** 0.5).astype(dtype)
              for s in ((d_model, d_model), (d_model, kv), (d_model, kv), (d_model, d_model))]
        return cls(*ws, num_heads=num_heads, layer=layer)

    def qkv(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return ((x @ self.wq).reshape(len(x), self.num_heads, self.head_dim),
                (x @ self.wk).reshape(len(x), self.num_kv_heads, self.head_dim),
                (x @ self.wv).reshape(len(x), self.num_kv_heads, self.head_dim))

    def forward(self, xs: Sequence[np.ndarray], cache: PagedKVCache, seq_ids: Sequence[int]) -> list[np.ndarray]:
        """Append the new tokens of every sequence and attend.  T_i may differ: prefill and decode rows can be mixed."""
        if len(xs) != len(seq_ids) or len(set(seq_ids)) != len(seq_ids):
            raise ValueError("one array per distinct sequence id is needed")
        out = []
        for x, seq_id in zip(xs, seq_ids):
            q, k, v = self.qkv(x)
            cache.append(self.layer, seq_id, k, v)
            if len(x) == 0:
                out.append(np.zeros((0, self.wo.shape[1]), self.wo.dtype))
                continue
            y = causal_attention(q, *cache.gather(self.layer, seq_id))
            out.append(y.reshape(len(x), -1) @ self.wo)
        return out

    def forward_uncached(self, x: np.ndarray) -> np.ndarray:
        """Full causal attention of one sequence (T, d_model), for reference."""
        return causal_attention(*self.qkv(x)).reshape(len(x), -1) @ self.wo
