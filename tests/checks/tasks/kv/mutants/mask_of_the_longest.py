# bug: attention over a padded batch hides what is past the longest sequence, not past each sequence's own end
# caught by: variable_lengths
# passes: incremental_equals_full, gqa, capacity
from typing import NamedTuple

import numpy as np


class CacheConfig(NamedTuple):
    num_layers: int = 2
    num_kv_heads: int = 2
    head_dim: int = 8


class Stored(NamedTuple):
    k: tuple
    v: tuple


def init(cfg: CacheConfig, batch: int) -> Stored:
    def none():
        row = np.zeros((0, cfg.num_kv_heads, cfg.head_dim), np.float32)
        return tuple(tuple(row for _ in range(batch)) for _ in range(cfg.num_layers))

    return Stored(none(), none())


def append(cfg: CacheConfig, state: Stored, k, v, n_new=None) -> Stored:
    """k, v (layers, batch, tokens, kv heads, head dim)."""
    n = np.full(k.shape[1], k.shape[2]) if n_new is None else n_new

    def longer(old, new):
        return tuple(
            tuple(np.concatenate([row, new[i, b, : n[b]]]) for b, row in enumerate(layer)) for i, layer in enumerate(old)
        )

    return Stored(longer(state.k, k), longer(state.v, v))


def read(state: Stored, layer: int, b: int):
    return state.k[layer][b], state.v[layer][b]


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, q_positions: np.ndarray, kv_len: np.ndarray) -> np.ndarray:
    """q (B, T, H, D) over k, v (B, S, G, D)."""
    q_positions = np.broadcast_to(q_positions.max(axis=0), q_positions.shape)
    share = q.shape[2] // k.shape[2]
    k, v = (np.repeat(x, share, axis=2) for x in (k, v))
    scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
    slots = np.arange(k.shape[1])
    seen = (slots[None, None] <= q_positions[..., None]) & (slots < kv_len.max())
    scores = np.where(seen[:, None], scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhts,bshd->bthd", scores / scores.sum(-1, keepdims=True), v)
