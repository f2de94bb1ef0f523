# style: a class with one optional list of lengths per call, which says what is new to the cache and to attention alike
# skips: gqa, paged
"""
KV cache for autoregressive transformer inference (NumPy).

Layout
------
    keys / values : (num_layers, batch, num_heads, max_seq_len, head_dim)
    lengths       : (num_layers, batch)   number of valid positions

The buffers are pre-allocated once.  Every batch row owns its own write
position, so sequences of different lengths can share one cache without
padding holes: row ``b`` always occupies slots ``[0, lengths[b])``.

Optionally the cache stores INT8 codes with one symmetric scale per
(token, head), which cuts memory by ~4x compared with float32.

Example
-------
>>> cache = KVCache(num_layers=1, batch_size=2, num_heads=4, max_seq_len=32, head_dim=8)
>>> k = v = np.random.randn(2, 4, 5, 8).astype(np.float32)
>>> cache.update(0, k, v, seq_lens=[5, 3])
>>> cache.get_lengths(0)
array([5, 3])
"""
from typing import Optional, Sequence, Tuple

import numpy as np


class CacheFullError(ValueError):
    """Raised when an update would write past ``max_seq_len``."""


def _quantize(x: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Symmetric INT8 quantization along the last axis."""
    amax = np.abs(x).max(axis=-1, keepdims=True)
    scale = np.where(amax > 0, amax / 127.0, 1.0).astype(np.float32)
    codes = np.clip(np.rint(x / scale), -127, 127).astype(np.int8)
    return codes, scale[..., 0]


class KVCache:
    """Pre-allocated multi-layer KV cache with per-row lengths."""

    def __init__(
        self,
        num_layers: int,
        batch_size: int,
        num_heads: int,
        max_seq_len: int,
        head_dim: int,
        dtype=np.float32,
        quantize: bool = False,
    ):
        if min(num_layers, batch_size, num_heads, max_seq_len, head_dim) <= 0:
            raise ValueError("all cache dimensions must be positive")
        self.num_layers = num_layers
        self.batch_size = batch_size
        self.num_heads = num_heads
        self.max_seq_len = max_seq_len
        self.head_dim = head_dim
        self.dtype = np.dtype(dtype)
        self.quantize = quantize

        shape = (num_layers, batch_size, num_heads, max_seq_len, head_dim)
        store = np.int8 if quantize else self.dtype
        self._k = np.zeros(shape, dtype=store)
        self._v = np.zeros(shape, dtype=store)
        if quantize:
            self._k_scale = np.ones(shape[:-1], dtype=np.float32)
            self._v_scale = np.ones(shape[:-1], dtype=np.float32)
        self._lengths = np.zeros((num_layers, batch_size), dtype=np.int64)

    # ------------------------------------------------------------------ #
    # writing
    # ------------------------------------------------------------------ #
    def update(
        self,
        layer_idx: int,
        k: np.ndarray,
        v: np.ndarray,
        seq_lens: Optional[Sequence[int]] = None,
    ) -> None:
        """
        Append ``T`` new positions to ``layer_idx``.

        Args:
            k, v: (batch, num_heads, T, head_dim).  T == 1 for decoding.
            seq_lens: number of valid new tokens per row (the rest of the T
                positions is right padding and is not stored).  Default: T.

        Raises:
            CacheFullError: if any row would overflow.  Nothing is written.
        """
        k, v = np.asarray(k), np.asarray(v)
        expected = (self.batch_size, self.num_heads, self.head_dim)
        if k.ndim != 4 or (k.shape[0], k.shape[1], k.shape[3]) != expected:
            raise ValueError(f"expected k of shape (B, H, T, D) with (B, H, D)={expected}, got {k.shape}")
        if k.shape != v.shape:
            raise ValueError(f"k and v differ in shape: {k.shape} vs {v.shape}")
        T = k.shape[2]
        if seq_lens is None:
            n_new = np.full(self.batch_size, T, dtype=np.int64)
        else:
            n_new = np.asarray(seq_lens, dtype=np.int64)
            if n_new.shape != (self.batch_size,) or (n_new < 0).any() or (n_new > T).any():
                raise ValueError(f"seq_lens must hold {self.batch_size} values in [0, {T}]")

        start = self._lengths[layer_idx]
        end = start + n_new
        if (end > self.max_seq_len).any():
            b = int(np.argmax(end))
            raise CacheFullError(
                f"KV cache overflow in layer {layer_idx}, row {b}: "
                f"{start[b]} cached + {n_new[b]} new > max_seq_len={self.max_seq_len}"
            )

        for b in range(self.batch_size):
            n = n_new[b]
            if n == 0:
                continue
            dst = slice(start[b], end[b])
            if self.quantize:
                self._k[layer_idx, b, :, dst], self._k_scale[layer_idx, b, :, dst] = _quantize(k[b, :, :n])
                self._v[layer_idx, b, :, dst], self._v_scale[layer_idx, b, :, dst] = _quantize(v[b, :, :n])
            else:
                self._k[layer_idx, b, :, dst] = k[b, :, :n]
                self._v[layer_idx, b, :, dst] = v[b, :, :n]
        self._lengths[layer_idx] = end

    def reset(self, batch_idx: Optional[int] = None) -> None:
        """Forget everything, or only row ``batch_idx`` (to reuse its slot)."""
        rows = slice(None) if batch_idx is None else batch_idx
        self._lengths[:, rows] = 0
        self._k[:, rows] = 0
        self._v[:, rows] = 0

    # ------------------------------------------------------------------ #
    # reading
    # ------------------------------------------------------------------ #
    def get(self, layer_idx: int) -> Tuple[np.ndarray, np.ndarray]:
        """
        Return ``(k, v)`` of shape (batch, num_heads, S, head_dim) where S is
        the longest row.  Slots past a row's length are zero; use
        :meth:`get_lengths` to mask them.
        """
        S = int(self._lengths[layer_idx].max())
        k = self._k[layer_idx, :, :, :S].astype(self.dtype)
        v = self._v[layer_idx, :, :, :S].astype(self.dtype)
        if self.quantize:
            k *= self._k_scale[layer_idx, :, :, :S, None].astype(self.dtype)
            v *= self._v_scale[layer_idx, :, :, :S, None].astype(self.dtype)
        return k, v

    def get_lengths(self, layer_idx: int = 0) -> np.ndarray:
        return self._lengths[layer_idx].copy()

    def memory_bytes(self) -> int:
        """Allocated bytes, scales included."""
        total = self._k.nbytes + self._v.nbytes
        if self.quantize:
            total += self._k_scale.nbytes + self._v_scale.nbytes
        return total


def cached_attention(
    q: np.ndarray,
    cache: KVCache,
    layer_idx: int,
    seq_lens: Optional[Sequence[int]] = None,
) -> np.ndarray:
    """
    Causal attention of the newest queries against the cache.

    Call it *after* ``cache.update`` with the same ``seq_lens``: the queries of
    row ``b`` sit at absolute positions ``[len_b - n_b, len_b)``.

    Args:
        q: (batch, num_heads, T, head_dim)
        seq_lens: valid queries per row (default T); padded queries return 0.

    Returns:
        (batch, num_heads, T, head_dim)
    """
    B, H, T, D = q.shape
    k, v = cache.get(layer_idx)
    lengths = cache.get_lengths(layer_idx)
    n_new = np.full(B, T) if seq_lens is None else np.asarray(seq_lens)
    S = k.shape[2]
    if S == 0:
        return np.zeros_like(q)

    q_idx = np.arange(T)
    q_pos = (lengths - n_new)[:, None] + q_idx[None, :]               # (B, T)
    k_pos = np.arange(S)
    visible = k_pos[None, None, :] <= q_pos[:, :, None]               # causal
    visible &= k_pos[None, None, :] < lengths[:, None, None]          # row length
    visible &= (q_idx[None, :] < n_new[:, None])[:, :, None]          # padding

    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)                      # (B, H, T, S)
    scores = np.where(visible[:, None], scores, -np.inf)
    m = scores.max(axis=-1, keepdims=True)
    m = np.where(np.isfinite(m), m, 0.0)
    p = np.exp(scores - m)
    denom = p.sum(axis=-1, keepdims=True)
    out = (p @ v) / np.where(denom > 0, denom, 1.0)
    return out.astype(q.dtype)


def estimate_kv_memory(num_layers, batch_size, num_heads, seq_len, head_dim, bytes_per_element=2, scale_bytes=0):
    """Bytes of a KV cache: 2 * L * B * H * S * (D * bytes + scale_bytes)."""
    return 2 * num_layers * batch_size * num_heads * seq_len * (head_dim * bytes_per_element + scale_bytes)
