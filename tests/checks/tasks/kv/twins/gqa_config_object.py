# style: sizes come in one config object; the layer is called, and makes its cache
# passes: gqa, memory_model, isolation, capacity, cache_size_minimality, purity
# skips: paged, quantized
# skips: variable_lengths (one length for the batch)
"""Grouped-query attention whose KV cache stores only the KV heads."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class GQAConfig:
    d_model: int = 64
    n_q_heads: int = 8
    n_kv_heads: int = 2
    max_len: int = 128
    dtype: type = np.float32

    @property
    def head_dim(self) -> int:
        return self.d_model // self.n_q_heads

    @property
    def group(self) -> int:
        return self.n_q_heads // self.n_kv_heads


class KVStore:
    """Preallocated K and V of one layer, (B, n_kv_heads, max_len, head_dim)."""

    def __init__(self, config: GQAConfig, batch: int):
        shape = (batch, config.n_kv_heads, config.max_len, config.head_dim)
        self.keys = np.zeros(shape, dtype=config.dtype)
        self.values = np.zeros(shape, dtype=config.dtype)
        self.filled = 0
        self.max_len = config.max_len

    def extend(self, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Store k, v (B, n_kv_heads, n, head_dim) and return all that is held."""
        n = k.shape[2]
        if self.filled + n > self.max_len:
            raise ValueError(f"cache full: {self.filled} + {n} > {self.max_len}")
        self.keys[:, :, self.filled : self.filled + n] = k
        self.values[:, :, self.filled : self.filled + n] = v
        self.filled += n
        return self.view()

    def view(self) -> tuple[np.ndarray, np.ndarray]:
        return self.keys[:, :, : self.filled], self.values[:, :, : self.filled]

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes


def grouped_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Causal attention of the last q.shape[2] positions over k and v.

    Args:
        q: (B, Hq, n, D)
        k: (B, Hkv, S, D)
        v: (B, Hkv, S, D)

    Returns:
        (B, Hq, n, D)
    """
    b, hq, n, d = q.shape
    hkv, s = k.shape[1], k.shape[2]
    group = hq // hkv
    qg = q.reshape(b, hkv, group, n, d)
    logits = np.einsum("bhgnd,bhsd->bhgns", qg, k) * (d**-0.5)
    future = np.arange(s)[None, :] > (np.arange(n)[:, None] + s - n)
    logits[..., future] = -np.inf
    logits -= logits.max(-1, keepdims=True)
    weights = np.exp(logits)
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bhgns,bhsd->bhgnd", weights, v).reshape(b, hq, n, d)


class GroupedQueryAttention:
    def __init__(self, config: GQAConfig, seed: int = 0):
        self.cfg = config
        rng = np.random.default_rng(seed)
        kv_dim = config.n_kv_heads * config.head_dim

        def linear(n_in, n_out):
            return (rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)).astype(config.dtype)

        self.Wq = linear(config.d_model, config.d_model)
        self.Wk = linear(config.d_model, kv_dim)
        self.Wv = linear(config.d_model, kv_dim)
        self.Wo = linear(config.d_model, config.d_model)

    def new_cache(self, batch: int) -> KVStore:
        return KVStore(self.cfg, batch)

    def _split(self, x, heads):
        b, n, _ = x.shape
        return x.reshape(b, n, heads, self.cfg.head_dim).transpose(0, 2, 1, 3)

    def __call__(self, x: np.ndarray, cache: KVStore) -> np.ndarray:
        """x: (B, n, d_model) -> (B, n, d_model); ``cache`` is extended in place."""
        b, n, _ = x.shape
        q = self._split(x @ self.Wq, self.cfg.n_q_heads)
        k, v = cache.extend(
            self._split(x @ self.Wk, self.cfg.n_kv_heads),
            self._split(x @ self.Wv, self.cfg.n_kv_heads),
        )
        out = grouped_attention(q, k, v)
        return out.transpose(0, 2, 1, 3).reshape(b, n, self.cfg.d_model) @ self.Wo


def kv_bytes_per_token(n_layers: int, n_kv_heads: int, head_dim: int, bytes_per_element: int = 2) -> int:
    return 2 * n_layers * n_kv_heads * head_dim * bytes_per_element


def test_matches_full():
    cfg = GQAConfig()
    layer = GroupedQueryAttention(cfg)
    x = np.random.default_rng(3).standard_normal((2, 9, 64)).astype(np.float32)
    full = layer(x, layer.new_cache(2))
    cache = layer.new_cache(2)
    parts = [layer(x[:, :4], cache)] + [layer(x[:, i : i + 1], cache) for i in range(4, 9)]
    assert np.allclose(np.concatenate(parts, 1), full, atol=1e-5)


if __name__ == "__main__":
    test_matches_full()
    print("ok")
