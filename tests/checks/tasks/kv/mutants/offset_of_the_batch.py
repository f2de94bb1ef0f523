# bug: several tokens at once are masked by the longest length of the batch, not by that of their row
# caught by: variable_lengths
# passes: incremental_equals_full, gqa, isolation, capacity, memory_model
"""KV-cached multi-head attention for batched autoregressive inference (NumPy only).

A batch of B slots is served together.  Sequences are RIGHT padded: a call receives ``x`` of shape (B, T, d_model) and
``n_new`` (B,), the number of leading tokens of each row that are real.  A row with ``n_new == 0`` is idle in that call.

    cache = KVCache.allocate(cfg, batch=B, max_seq_len=1024)
    y = model.forward(x_prompt, cache, n_new=prompt_lengths)     # prefill, in one or in several chunks
    y = model.forward(x_token, cache)                            # decode, one token per row

Outputs at padded positions are zero.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ModelConfig:
    d_model: int = 64
    n_layers: int = 2
    n_heads: int = 8
    n_kv_heads: int = 4
    dtype: type = np.float32

    def __post_init__(self):
        if self.d_model % self.n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        if self.n_heads % self.n_kv_heads:
            raise ValueError("n_heads must be divisible by n_kv_heads")

    @property
    def head_dim(self) -> int:
        return self.d_model // self.n_heads

    @property
    def cache_bytes_per_token(self) -> int:
        return 2 * self.n_layers * self.n_kv_heads * self.head_dim * np.dtype(self.dtype).itemsize


class KVCache:
    """Preallocated (layer, batch, kv_head, position, head_dim) buffers and one length per batch row."""

    def __init__(self, n_layers: int, batch: int, n_kv_heads: int, max_seq_len: int, head_dim: int, dtype=np.float32):
        shape = (n_layers, batch, n_kv_heads, max_seq_len, head_dim)
        self.k = np.zeros(shape, dtype)
        self.v = np.zeros(shape, dtype)
        self.lengths = np.zeros(batch, np.int64)
        self.max_seq_len = max_seq_len

    @classmethod
    def allocate(cls, cfg: ModelConfig, batch: int, max_seq_len: int) -> "KVCache":
        return cls(cfg.n_layers, batch, cfg.n_kv_heads, max_seq_len, cfg.head_dim, cfg.dtype)

    @property
    def nbytes(self) -> int:
        return self.k.nbytes + self.v.nbytes + self.lengths.nbytes

    def check_room(self, n_new: np.ndarray) -> None:
        over = np.flatnonzero(self.lengths + n_new > self.max_seq_len)
        if over.size:
            raise ValueError(f"KV cache is full: rows {over.tolist()} would exceed max_seq_len={self.max_seq_len}")

    def write(self, layer: int, k: np.ndarray, v: np.ndarray, n_new: np.ndarray) -> None:
        """Store the real tokens of k, v (B, H_kv, T, D) behind the committed ones.  Lengths change in `commit`."""
        self.check_room(n_new)
        row, t = np.nonzero(np.arange(k.shape[2]) < n_new[:, None])
        pos = self.lengths[row] + t
        self.k[layer, row, :, pos] = k[row, :, t]
        self.v[layer, row, :, pos] = v[row, :, t]

    def commit(self, n_new: np.ndarray) -> None:
        """Make the tokens written in every layer part of the sequences."""
        self.lengths += n_new

    def read(self, layer: int, upto: int) -> tuple[np.ndarray, np.ndarray]:
        return self.k[layer, :, :, :upto], self.v[layer, :, :, :upto]

    def release(self, row: int) -> None:
        """Empty one batch row, so that another sequence can take it.  Idempotent."""
        self.lengths[row] = 0


def softmax(x: np.ndarray) -> np.ndarray:
    x = x - x.max(axis=-1, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


class MultiHeadAttention:
    """Grouped-query attention; n_kv_heads == n_heads gives MHA and n_kv_heads == 1 gives MQA."""

    def __init__(self, cfg: ModelConfig, layer: int, rng: np.random.Generator):
        self.cfg, self.layer = cfg, layer
        kv_dim = cfg.n_kv_heads * cfg.head_dim
        self.Wq, self.Wk, self.Wv, self.Wo = (
            (rng.standard_normal((cfg.d_model, n)) / np.sqrt(cfg.d_model)).astype(cfg.dtype)
            for n in (cfg.d_model, kv_dim, kv_dim, cfg.d_model))

    def _heads(self, x: np.ndarray, n: int) -> np.ndarray:
        return x.reshape(*x.shape[:2], n, self.cfg.head_dim).swapaxes(1, 2)

    def forward(self, x: np.ndarray, cache: KVCache, n_new: np.ndarray) -> np.ndarray:
        cfg = self.cfg
        B, T, _ = x.shape
        q = self._heads(x @ self.Wq, cfg.n_heads)
        cache.write(self.layer, self._heads(x @ self.Wk, cfg.n_kv_heads), self._heads(x @ self.Wv, cfg.n_kv_heads), n_new)

        total = cache.lengths + n_new                      # keys each row may look at
        S = int(total.max())
        k, v = cache.read(self.layer, S)
        real = np.arange(S) < total[:, None]               # (B, S)
        visible = self._causal(T, S, int(cache.lengths.max()))[None] & real[:, None, :]
        visible[:, :, 0] |= total[:, None] == 0            # idle empty rows: keep softmax defined

        group = cfg.n_heads // cfg.n_kv_heads
        q = q.reshape(B, cfg.n_kv_heads, group, T, cfg.head_dim)
        scores = np.einsum("bgrtd,bgsd->bgrts", q, k) / np.sqrt(cfg.head_dim).astype(cfg.dtype)
        weights = softmax(np.where(visible[:, None, None], scores, -np.inf))
        out = np.einsum("bgrts,bgsd->bgrtd", weights, v).reshape(B, cfg.n_heads, T, cfg.head_dim)
        out = out.swapaxes(1, 2).reshape(B, T, cfg.d_model) @ self.Wo
        return np.where((np.arange(T) < n_new[:, None])[..., None], out, 0)

    @staticmethod
    def _causal(T: int, S: int, offset: int) -> np.ndarray:
        """(T, S) mask: query i, which stands at offset + i, sees the keys up to itself."""
        return np.arange(S) <= offset + np.arange(T)[:, None]


class DecoderModel:
    """Pre-norm residual stack of attention layers."""

    def __init__(self, cfg: ModelConfig, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.cfg = cfg
        self.layers = [MultiHeadAttention(cfg, i, rng) for i in range(cfg.n_layers)]

    @staticmethod
    def _norm(x: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6).astype(x.dtype)

    def forward(self, x: np.ndarray, cache: KVCache, n_new=None) -> np.ndarray:
        """Process the new tokens of every row and extend the cache; see the module docstring."""
        x = np.asarray(x, dtype=self.cfg.dtype)
        n_new = np.full(len(x), x.shape[1]) if n_new is None else np.asarray(n_new, dtype=np.int64)
        if n_new.shape != cache.lengths.shape or (n_new < 0).any() or (n_new > x.shape[1]).any():
            raise ValueError(f"n_new must hold one count in 0..{x.shape[1]} per cache row")
        cache.check_room(n_new)
        if not n_new.any():
            return np.zeros_like(x)
        for layer in self.layers:
            x = x + layer.forward(self._norm(x), cache, n_new)
        cache.commit(n_new)
        return np.where((np.arange(x.shape[1]) < n_new[:, None])[..., None], x, 0)

    def forward_full(self, x: np.ndarray) -> np.ndarray:
        """Uncached causal reference on an unpadded batch (B, T, d_model)."""
        return self.forward(x, KVCache.allocate(self.cfg, len(x), x.shape[1]))
