# right: one cache, always of codes, with tokens before sequences; its calculator counts the scales
# only: quantized, memory_model
"""INT8 key/value cache with per-token, per-head scales; time-major storage.

    codes  (layers, 2, capacity, batch, kv_heads, head_dim)  int8, 0 = keys, 1 = values
    scales (layers, 2, capacity, batch, kv_heads)            float32

x is stored as rint(x / scale) with scale = absmax / 127 over head_dim, so that
|x - dequantized| <= scale / 2 everywhere.  Rows of the batch advance independently
(`extend` takes a count per row), and only slots below a row's length are ever read.

`QuantizedAttention` runs grouped-query attention over the dequantized cache and
returns (output, logsumexp): the second makes partial results mergeable.
"""
from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy as np

QMAX = 127


class CacheFull(RuntimeError):
    """A write would pass the end of the cache; nothing has been written."""


def quantize(x: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """(codes int8, scale float32); all-zero vectors get scale 1 and codes 0."""
    x = np.asarray(x)
    scale = (np.abs(x).max(axis=-1) / QMAX).astype(np.float32)
    scale[scale == 0] = 1.0
    codes = np.clip(np.rint(x / scale[..., None].astype(np.float64)), -QMAX, QMAX)
    return codes.astype(np.int8), scale


def dequantize(codes: np.ndarray, scale: np.ndarray, dtype=np.float32) -> np.ndarray:
    """codes * scale in `dtype`."""
    return codes.astype(dtype) * scale[..., None].astype(dtype)


class Int8KVCache:
    """Fixed-capacity INT8 cache for a batch of sequences of different lengths."""

    def __init__(self, layers: int, batch: int, kv_heads: int, head_dim: int, capacity: int):
        self.codes = np.zeros((layers, 2, capacity, batch, kv_heads, head_dim), np.int8)
        self.scales = np.ones((layers, 2, capacity, batch, kv_heads), np.float32)
        self.lengths = np.zeros((layers, batch), np.int64)
        self.capacity = capacity

    @property
    def nbytes(self) -> int:
        """Bytes allocated for codes and scales."""
        return self.codes.nbytes + self.scales.nbytes

    def extend(self, layer: int, keys: np.ndarray, values: np.ndarray,
               counts: Optional[Sequence[int]] = None) -> np.ndarray:
        """Append time-major (n, batch, kv_heads, head_dim); row b takes its first counts[b].

        Returns the lengths before the call.  Either all rows are written or none is.
        """
        keys, values = np.asarray(keys), np.asarray(values)
        want = (keys.shape[0],) + self.codes.shape[3:]
        if keys.shape != want or values.shape != want:
            raise ValueError(f"keys {keys.shape} and values {values.shape} must be {want}")
        n, batch = keys.shape[:2]
        counts = np.full(batch, n) if counts is None else np.asarray(counts, dtype=np.int64)
        if counts.shape != (batch,) or (counts < 0).any() or (counts > n).any():
            raise ValueError(f"counts must be {batch} numbers in 0..{n}")
        start = self.lengths[layer].copy()
        if (start + counts > self.capacity).any():
            raise CacheFull(f"lengths {(start + counts).tolist()} exceed capacity {self.capacity}")
        step, row = np.nonzero(np.arange(n)[:, None] < counts)
        for kind, x in enumerate((keys, values)):
            codes, scale = quantize(x[step, row])
            self.codes[layer, kind, start[row] + step, row] = codes
            self.scales[layer, kind, start[row] + step, row] = scale
        self.lengths[layer] += counts
        return start

    def fetch(self, layer: int, row: int, dtype=np.float32) -> Tuple[np.ndarray, np.ndarray]:
        """Dequantized (keys, values) of one row, each (length, kv_heads, head_dim)."""
        s = int(self.lengths[layer, row])
        k, v = (dequantize(self.codes[layer, i, :s, row], self.scales[layer, i, :s, row], dtype)
                for i in (0, 1))
        return k, v

    def reset(self, row: int) -> None:
        """Make a row available for a new sequence; idempotent."""
        self.lengths[:, row] = 0


class QuantizedAttention:
    """Grouped-query causal attention over an Int8KVCache."""

    def __init__(self, cache: Int8KVCache, query_heads: int):
        kv_heads = cache.codes.shape[4]
        if query_heads % kv_heads:
            raise ValueError("query_heads must be a multiple of kv_heads")
        self.cache, self.group = cache, query_heads // kv_heads

    def __call__(self, layer: int, queries: np.ndarray, keys: np.ndarray, values: np.ndarray,
                 counts: Optional[Sequence[int]] = None) -> Tuple[np.ndarray, np.ndarray]:
        """Append, then attend: prefill, one chunk of it, or a decode step (n = 1).

        queries (n, batch, heads, head_dim), right-padded like keys and values.  Returns
        output (same shape) and logsumexp (n, batch, heads); padded places hold 0 and -inf.
        """
        queries = np.asarray(queries)
        n, batch, heads, dim = queries.shape
        start = self.cache.extend(layer, keys, values, counts)
        dtype = np.result_type(queries.dtype, np.float32)
        out = np.zeros(queries.shape, dtype)
        lse = np.full((n, batch, heads), -np.inf, dtype)
        for b in range(batch):
            m = int(self.cache.lengths[layer, b] - start[b])
            if m:
                out[:m, b], lse[:m, b] = self._row(layer, b, queries[:m, b].astype(dtype), start[b])
        return out, lse

    def _row(self, layer: int, b: int, q: np.ndarray, offset: int):
        """Attention of one sequence; query i sits at position offset + i."""
        k, v = self.cache.fetch(layer, b, q.dtype)
        m, heads, dim = q.shape
        q = (q / np.sqrt(dim).astype(q.dtype)).reshape(m, -1, self.group, dim)
        s = np.einsum("mkgd,tkd->mkgt", q, k)
        seen = np.arange(k.shape[0]) <= offset + np.arange(m)[:, None]
        s = np.where(seen[:, None, None], s, -np.inf)
        top = s.max(axis=-1, keepdims=True)
        p = np.exp(s - top)
        z = p.sum(axis=-1, keepdims=True)
        out = np.einsum("mkgt,tkd->mkgd", p / z, v)
        return out.reshape(m, heads, dim), (top + np.log(z)).reshape(m, heads)


def bytes_per_token(layers: int, kv_heads: int, head_dim: int) -> int:
    """Bytes of one token of one sequence: int8 codes and float32 scales of K and V."""
    return 2 * layers * kv_heads * (head_dim + 4)
