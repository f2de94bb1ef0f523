# style: functions over a state that is never changed; attention over it is told where every query stands
# passes: incremental_equals_full, variable_lengths, isolation, capacity, gqa, growth
# skips: paged, quantized, memory_model
from typing import NamedTuple

import numpy as np


class Spec(NamedTuple):
    d_model: int
    n_heads: int
    n_kv_heads: int
    dtype: type = np.float64

    @property
    def width(self):
        return self.d_model // self.n_heads


class Rows(NamedTuple):
    """pairs[b] (2, length, kv_heads, width): keys and values of a sequence."""

    pairs: tuple


def new_cache(spec: Spec, batch: int) -> Rows:
    return Rows((np.zeros((2, 0, spec.n_kv_heads, spec.width), spec.dtype),) * batch)


def insert(state: Rows, k, v, counts=None) -> Rows:
    """k, v (B, T, kv_heads, width), of which counts (B,) are real."""
    counts = [k.shape[1]] * len(k) if counts is None else counts
    fresh = [np.stack([k[b, :n], v[b, :n]]) for b, n in enumerate(counts)]
    return Rows(tuple(np.concatenate(both, axis=1) for both in zip(state.pairs, fresh)))


def attend(spec: Spec, q, state: Rows, q_pos):
    """q (B, T, heads, width) at q_pos (B, T)."""
    out = np.zeros_like(q)
    for b, (keys, values) in enumerate(state.pairs):
        for head in range(spec.n_heads):
            own = head // (spec.n_heads // spec.n_kv_heads)
            w = q[b, :, head] @ keys[:, own].T / np.sqrt(spec.width).astype(spec.dtype)
            w[np.arange(len(keys)) > q_pos[b][:, None]] = -np.inf
            w = np.exp(w - w.max(axis=1, keepdims=True, initial=-1e300))
            out[b, :, head] = w @ values[:, own] / np.maximum(w.sum(axis=1, keepdims=True), 1e-300)
    return out
