# style: nothing is changed in place; settings go first into every call, attention is told positions and lengths
# passes: incremental_equals_full, variable_lengths, isolation, capacity, gqa, purity, cache_size_minimality, growth
# skips: paged, quantized, memory_model
from typing import NamedTuple

import numpy as np


class Settings(NamedTuple):
    n_layers: int = 3
    n_kv_heads: int = 2
    head_dim: int = 16
    dtype: type = np.float64
    stride: int = 4


class Kept(NamedTuple):
    """keys, values (layers, batch, kv_heads, room, head_dim); used (batch,)."""

    keys: np.ndarray
    values: np.ndarray
    used: np.ndarray


def init(settings, batch):
    nothing = np.zeros((settings.n_layers, batch, settings.n_kv_heads, 0, settings.head_dim), settings.dtype)
    return Kept(nothing, nothing, np.zeros(batch, int))


def append(settings, state, keys, values, counts=None):
    """keys, values (layers, batch, kv_heads, t, head_dim), of which counts (batch,) are real."""
    layers, batch, _, t, _ = keys.shape
    if layers != settings.n_layers:
        raise ValueError(f"{layers} layers of keys for {settings.n_layers}")
    counts = np.full(batch, t) if counts is None else np.asarray(counts)
    used = state.used + counts
    more = max(0, settings.stride * -(-used.max() // settings.stride) - state.keys.shape[3])

    def behind(old, new):
        wide = np.concatenate([old, np.zeros((*old.shape[:3], more, old.shape[4]), old.dtype)], axis=3)
        for row, (at, n) in enumerate(zip(state.used, counts)):
            wide[:, row, :, at : at + n] = new[:, row, :, :n]
        return wide

    return Kept(behind(state.keys, keys), behind(state.values, values), used)


def read(state, layer, row):
    n = state.used[row]
    return state.keys[layer, row, :, :n], state.values[layer, row, :, :n]


def attend(q, k, v, q_pos, kv_len):
    """q (batch, heads, t, d) at q_pos (batch, t) over k, v (batch, kv_heads, s, d); kv_len (batch,) are real."""
    batch, heads, t, d = q.shape
    s = np.arange(k.shape[2])
    hidden = (s > q_pos[:, :, None]) | (s >= np.reshape(kv_len, (-1, 1, 1)))
    scores = np.matmul(q.reshape(batch, k.shape[1], -1, d), k.swapaxes(2, 3)) * d**-0.5
    scores = scores.reshape(batch, heads, t, -1)
    scores = np.where(hidden[:, None], -np.inf, scores)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    weights = (scores / scores.sum(-1, keepdims=True)).reshape(batch, k.shape[1], -1, k.shape[2])
    return np.matmul(weights, v).reshape(q.shape).astype(q.dtype)
