"""Cached multi-head attention and a small decoder on top of :class:`kv_cache.KVCache`."""
from __future__ import annotations

from typing import Sequence

import numpy as np

from kv_cache import KVCache


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class CachedAttention:
    """Causal MHA / GQA layer whose past lives in a cache."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int | None, layer: int,
                 rng: np.random.Generator, dtype=np.float64) -> None:
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads or n_heads
        if d_model % n_heads or n_heads % self.n_kv_heads:
            raise ValueError("n_heads must divide d_model and n_kv_heads must divide n_heads")
        self.head_dim, self.layer = d_model // n_heads, layer
        kv_dim = self.n_kv_heads * self.head_dim

        def weight(n_out: int) -> np.ndarray:
            return (rng.standard_normal((d_model, n_out)) / np.sqrt(d_model)).astype(dtype)

        self.w_q, self.w_k, self.w_v, self.w_o = weight(d_model), weight(kv_dim), weight(kv_dim), weight(d_model)

    def forward(self, x: np.ndarray, cache: KVCache, rows: Sequence[int]) -> np.ndarray:
        """Append T tokens x (R, T, d_model) to ``rows`` and attend; returns (R, T, d_model)."""
        R, T, _ = x.shape
        q = (x @ self.w_q).reshape(R, T, self.n_kv_heads, -1, self.head_dim)
        k = (x @ self.w_k).reshape(R, T, self.n_kv_heads, self.head_dim)
        v = (x @ self.w_v).reshape(R, T, self.n_kv_heads, self.head_dim)
        cache.append(self.layer, k, v, rows)
        out = np.empty((R, T, self.n_heads * self.head_dim), x.dtype)
        for i, row in enumerate(rows):
            keys, values = cache.get(self.layer, row)
            S = len(keys)
            scores = np.einsum("tkgd,skd->kgts", q[i], keys) * (1.0 / np.sqrt(self.head_dim))
            future = np.arange(S)[None, :] > (S - T + np.arange(T))[:, None]
            weights = softmax(np.where(future, -np.inf, scores))
            out[i] = np.einsum("kgts,skd->tkgd", weights, values).reshape(T, -1)
        return out @ self.w_o


class Decoder:
    """Stack of residual attention layers with prefill and single-token decoding."""

    def __init__(self, d_model: int = 32, n_heads: int = 4, n_kv_heads: int | None = None,
                 n_layers: int = 2, seed: int = 0, dtype=np.float64) -> None:
        rng = np.random.default_rng(seed)
        self.dtype = np.dtype(dtype)
        self.layers = [CachedAttention(d_model, n_heads, n_kv_heads, i, rng, dtype) for i in range(n_layers)]

    def make_cache(self, batch: int, reserve: int = 8) -> KVCache:
        a = self.layers[0]
        return KVCache(len(self.layers), batch, a.n_kv_heads, a.head_dim, self.dtype, reserve)

    def forward(self, x: np.ndarray, cache: KVCache, rows: Sequence[int] | None = None) -> np.ndarray:
        x = np.asarray(x, self.dtype)
        rows = list(range(len(x))) if rows is None else list(rows)
        for layer in self.layers:
            x = x + layer.forward(x, cache, rows)
        return x

    def prefill(self, prompt: np.ndarray, cache: KVCache, row: int, chunk: int | None = None) -> np.ndarray:
        """Feed one prompt (T, d_model) into one row, optionally in chunks; returns (T, d_model)."""
        step = chunk or len(prompt)
        return np.concatenate([self.forward(prompt[None, i:i + step], cache, [row])[0]
                               for i in range(0, len(prompt), step)])

    def decode(self, x: np.ndarray, cache: KVCache, rows: Sequence[int] | None = None) -> np.ndarray:
        """One new token per row, x (R, d_model) -> (R, d_model); finished rows are left out of ``rows``."""
        return self.forward(x[:, None], cache, rows)[:, 0]
