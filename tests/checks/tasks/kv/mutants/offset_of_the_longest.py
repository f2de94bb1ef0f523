# bug: rows of a second prompt are masked as if all sequences were as long as the longest
# caught by: variable_lengths
# passes: incremental_equals_full, gqa, isolation, capacity, memory_model
"""
KV-cached multi-head attention for autoregressive inference (NumPy).

* ``StaticKVCache``       preallocated (B, H_kv, S_max, D) keys and values, one length per sequence
* ``MultiHeadAttention``  grouped-query capable attention; the same ``forward`` does prefill, chunked prefill and
                          decode, and falls back to plain full attention when no cache is given
* ``KVMemoryModel``       how many bytes a deployment needs

Batches are right padded: ``hidden`` is (B, T, d_model) and ``num_valid[b]`` says how many of the T rows of sequence b
are real.  Padding rows are neither written to the cache nor seen by anyone; their outputs are zero.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


class KVCacheOverflowError(ValueError):
    """The requested append does not fit; the cache has not been touched."""


class StaticKVCache:
    """Fixed-capacity cache of one layer."""

    def __init__(self, batch_size: int, num_kv_heads: int, max_seq_len: int, head_dim: int,
                 dtype: np.dtype = np.float32) -> None:
        shape = (batch_size, num_kv_heads, max_seq_len, head_dim)
        if min(shape) <= 0:
            raise ValueError(f"invalid cache shape {shape}")
        self.keys = np.zeros(shape, dtype=dtype)
        self.values = np.zeros(shape, dtype=dtype)
        self.lengths = np.zeros(batch_size, dtype=np.int64)

    @property
    def max_seq_len(self) -> int:
        return self.keys.shape[2]

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    @property
    def nbytes_used(self) -> int:
        per_token = 2 * self.keys.shape[1] * self.keys.shape[3] * self.keys.itemsize
        return int(self.lengths.sum()) * per_token

    def append(self, k: Array, v: Array, num_valid: NDArray[np.int64]) -> None:
        """Append ``k[b, :, :num_valid[b]]`` (and v) behind what sequence b already holds."""
        after = self.lengths + num_valid
        if (after > self.max_seq_len).any():
            b = int(np.argmax(after))
            raise KVCacheOverflowError(
                f"sequence {b} holds {self.lengths[b]} tokens, cannot take {num_valid[b]} more "
                f"(max_seq_len={self.max_seq_len})")
        for b, n in enumerate(num_valid):
            start = self.lengths[b]
            self.keys[b, :, start:start + n] = k[b, :, :n]
            self.values[b, :, start:start + n] = v[b, :, :n]
        self.lengths = after

    def get(self, b: int) -> Tuple[Array, Array]:
        """Keys and values of one sequence, views of shape (H_kv, length, D)."""
        n = self.lengths[b]
        return self.keys[b, :, :n], self.values[b, :, :n]

    def reset(self, b: Optional[int] = None) -> None:
        """Forget one sequence (or all), e.g. to reuse its row for a new request."""
        if b is None:
            self.lengths = np.zeros_like(self.lengths)
        else:
            self.lengths[b] = 0


def masked_softmax(scores: Array, mask: NDArray[np.bool_]) -> Array:
    """Softmax over the last axis; masked entries get exactly 0, fully masked rows are all 0."""
    scores = np.where(mask, scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(peak), peak, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1)


class MultiHeadAttention:
    """
    Causal multi-head attention with an optional cache.

    num_kv_heads == num_heads is MHA, 1 is MQA, anything between is GQA; query head h reads
    key/value head h // (num_heads // num_kv_heads).
    """

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: Optional[int] = None,
                 dtype: np.dtype = np.float32, rng: Optional[np.random.Generator] = None) -> None:
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("d_model must be divisible by num_heads, num_heads by num_kv_heads")
        rng = np.random.default_rng(0) if rng is None else rng
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = d_model // num_heads
        self.dtype = np.dtype(dtype)
        d_kv = num_kv_heads * self.head_dim
        bound = 1.0 / math.sqrt(d_model)
        self.W_q = rng.uniform(-bound, bound, (d_model, d_model)).astype(dtype) * 2
        self.W_k = rng.uniform(-bound, bound, (d_model, d_kv)).astype(dtype) * 2
        self.W_v = rng.uniform(-bound, bound, (d_model, d_kv)).astype(dtype)
        self.W_o = rng.uniform(-bound, bound, (d_model, d_model)).astype(dtype)

    def new_cache(self, batch_size: int, max_seq_len: int) -> StaticKVCache:
        return StaticKVCache(batch_size, self.num_kv_heads, max_seq_len, self.head_dim, self.dtype)

    def _split(self, x: Array, heads: int) -> Array:
        B, T, _ = x.shape
        return x.reshape(B, T, heads, self.head_dim).transpose(0, 2, 1, 3)

    def forward(self, hidden: Array, cache: Optional[StaticKVCache] = None,
                num_valid: Optional[NDArray[np.int64]] = None) -> Array:
        """
        hidden (B, T, d_model) -> (B, T, d_model).

        With a cache the T rows continue the cached sequences; without one they are whole sequences.
        ``num_valid`` defaults to T for every sequence.
        """
        hidden = np.asarray(hidden, dtype=self.dtype)
        B, T, d_model = hidden.shape
        n = np.full(B, T, dtype=np.int64) if num_valid is None else np.asarray(num_valid, dtype=np.int64)
        if n.shape != (B,) or (n < 0).any() or (n > T).any():
            raise ValueError(f"num_valid must be {B} integers in [0, {T}]")

        q = self._split(hidden @ self.W_q, self.num_heads)
        k = self._split(hidden @ self.W_k, self.num_kv_heads)
        v = self._split(hidden @ self.W_v, self.num_kv_heads)

        if cache is None:
            past, total = np.zeros(B, dtype=np.int64), n
        else:
            if len(cache.lengths) != B:
                raise ValueError(f"cache has {len(cache.lengths)} sequences, hidden has {B}")
            past = cache.lengths
            cache.append(k, v, n)
            total = cache.lengths
            S = int(total.max())
            k, v = cache.keys[:, :, :S], cache.values[:, :, :S]

        # Row i of the chunk may look at everything in front of the chunk and at the chunk's rows up to itself;
        # slots beyond a sequence's own length are never visible.
        S = k.shape[2]
        causal = np.tri(T, S, k=int(past.max()), dtype=bool)
        written = np.arange(S) < total[:, None]
        real_row = np.arange(T) < n[:, None]
        mask = causal[None] & written[:, None, :] & real_row[:, :, None]

        group = self.num_heads // self.num_kv_heads
        q = q.reshape(B, self.num_kv_heads, group, T, self.head_dim)
        scores = (q @ k[:, :, None].swapaxes(-1, -2)) / self.dtype.type(math.sqrt(self.head_dim))
        context = masked_softmax(scores, mask[:, None, None]) @ v[:, :, None]
        context = context.reshape(B, self.num_heads, T, self.head_dim).transpose(0, 2, 1, 3)
        return context.reshape(B, T, d_model) @ self.W_o

    __call__ = forward

    def decode(self, token: Array, cache: StaticKVCache, active: Optional[NDArray[np.bool_]] = None) -> Array:
        """One step: token (B, d_model) -> (B, d_model).  Sequences with ``active[b] == False`` are left alone."""
        n = None if active is None else np.asarray(active, dtype=np.int64)
        return self.forward(token[:, None], cache, n)[:, 0]


@dataclass(frozen=True)
class KVMemoryModel:
    num_layers: int
    num_kv_heads: int
    head_dim: int
    bytes_per_element: int = 2

    @property
    def bytes_per_token(self) -> int:
        return 2 * self.num_layers * self.num_kv_heads * self.head_dim * self.bytes_per_element

    def total_bytes(self, batch_size: int, seq_len: int) -> int:
        return batch_size * seq_len * self.bytes_per_token

    def max_context(self, gpu_gib: float, weights_gib: float = 0.0, batch_size: int = 1) -> int:
        free = int((gpu_gib - weights_gib) * 1024 ** 3)
        return max(0, free // (batch_size * self.bytes_per_token))
