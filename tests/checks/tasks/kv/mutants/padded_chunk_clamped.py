# bug: a prompt goes in by chunks padded to one length; near the end the write is moved forward to fit, onto older tokens
# caught by: incremental_equals_full, variable_lengths
# passes: isolation, capacity, gqa
"""Grouped-query attention over a static KV cache, with chunked prefill.

The kernel only ever sees one chunk shape: a prompt slides through the cache in
chunks of ``chunk`` positions, the last one padded, as one does under a compiler
with static shapes.  Padding lands behind the sequence, where the causal mask
hides it, and is overwritten by whatever comes next.

    cache = GQACache(layers, slots, kv_heads, capacity, head_dim)
    out = cache.prefill(layer, slot, q, k, v)   # q (n, heads, D), k/v (n, kv_heads, D)
    cache.advance(slot, n)                      # after the last layer
    out = cache.decode(layer, slots, q, k, v)   # q (b, heads, D), k/v (b, kv_heads, D)
    cache.advance(slots, 1)
"""
from __future__ import annotations

import math

import numpy as np


class CacheFull(RuntimeError):
    """The slot has no room for the new positions."""


def _update_slice(buffer: np.ndarray, update: np.ndarray, start: int) -> None:
    """buffer[start : start + len(update)] = update, kept inside the buffer."""
    start = max(0, min(start, buffer.shape[0] - update.shape[0]))
    buffer[start:start + update.shape[0]] = update


def _pad_rows(x: np.ndarray, rows: int) -> np.ndarray:
    if x.shape[0] == rows:
        return x
    out = np.zeros((rows, *x.shape[1:]), x.dtype)
    out[:x.shape[0]] = x
    return out


def grouped_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, first: int) -> np.ndarray:
    """q (t, heads, D) at positions first..first+t-1; k, v (s, kv_heads, D) from 0.

    Query head h reads kv head h // (heads // kv_heads). Returns (t, heads, D).
    """
    t, heads, d = q.shape
    s, kv_heads, _ = k.shape
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads over {kv_heads} kv heads")
    qg = q.reshape(t, kv_heads, heads // kv_heads, d).transpose(1, 2, 0, 3)
    scores = qg @ k.transpose(1, 2, 0)[:, None] * q.dtype.type(1.0 / math.sqrt(d))
    hidden = np.arange(s)[None, :] > first + np.arange(t)[:, None]
    scores = np.where(hidden, -np.inf, scores)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    out = scores @ v.transpose(1, 0, 2)[:, None]
    return out.transpose(2, 0, 1, 3).reshape(t, heads, d)


class GQACache:
    """``slots`` independent sequences of up to ``capacity`` positions each.

    Storage: keys and values, each (layers, slots, capacity, kv_heads, head_dim).
    """

    def __init__(self, layers: int, slots: int, kv_heads: int, capacity: int,
                 head_dim: int, chunk: int = 8, dtype=np.float32) -> None:
        if chunk < 1 or capacity < 1:
            raise ValueError("chunk and capacity must be positive")
        self.keys = np.zeros((layers, slots, capacity, kv_heads, head_dim), dtype)
        self.vals = np.zeros_like(self.keys)
        self.lengths = np.zeros(slots, np.int64)
        self.capacity = capacity
        self.chunk = min(chunk, capacity)

    def _room(self, slot: int, n: int) -> int:
        if not 0 <= slot < len(self.lengths):
            raise IndexError(f"unknown slot {slot}")
        start = int(self.lengths[slot])
        if start + n > self.capacity:
            raise CacheFull(f"slot {slot}: {start} + {n} > capacity {self.capacity}")
        return start

    def prefill(self, layer: int, slot: int, q, k, v) -> np.ndarray:
        """Append n positions of one layer and attend causally; (n, heads, D).

        May be called again after :meth:`advance` with the next part of a prompt.
        """
        q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
        n = k.shape[0]
        base = self._room(slot, n)
        kbuf, vbuf = self.keys[layer, slot], self.vals[layer, slot]
        out = np.empty(q.shape, np.result_type(q.dtype, kbuf.dtype))
        for lo in range(0, n, self.chunk):
            hi = min(lo + self.chunk, n)
            _update_slice(kbuf, _pad_rows(k[lo:hi], self.chunk), base + lo)
            _update_slice(vbuf, _pad_rows(v[lo:hi], self.chunk), base + lo)
            seen = base + hi
            tile = grouped_attention(_pad_rows(q[lo:hi], self.chunk),
                                     kbuf[:seen], vbuf[:seen], base + lo)
            out[lo:hi] = tile[:hi - lo]
        return out

    def decode(self, layer: int, slots, q, k, v) -> np.ndarray:
        """One new position for each of ``slots`` (ragged lengths are fine)."""
        q = np.asarray(q)
        starts = [self._room(s, 1) for s in slots]     # all checked before any write
        rows = []
        for b, (slot, pos) in enumerate(zip(slots, starts)):
            self.keys[layer, slot, pos] = k[b]
            self.vals[layer, slot, pos] = v[b]
            rows.append(grouped_attention(q[b:b + 1], self.keys[layer, slot, :pos + 1],
                                          self.vals[layer, slot, :pos + 1], pos))
        return np.concatenate(rows)

    def advance(self, slots, n: int = 1) -> None:
        """Commit n positions, once all layers have written them."""
        for slot in np.atleast_1d(slots):
            self._room(int(slot), n)
        self.lengths[slots] += n

    def read(self, layer: int, slot: int) -> tuple[np.ndarray, np.ndarray]:
        n = self.lengths[slot]
        return self.keys[layer, slot, :n].copy(), self.vals[layer, slot, :n].copy()

    def release(self, slot: int) -> None:
        """Make the slot reusable; idempotent."""
        self._room(slot, 0)
        self.lengths[slot] = 0

    def memory(self) -> dict:
        per_token = 2 * self.keys.shape[0] * math.prod(self.keys.shape[3:]) * self.keys.itemsize
        return {"bytes_per_token": per_token,
                "allocated": self.keys.nbytes + self.vals.nbytes,
                "used": int(self.lengths.sum()) * per_token}
