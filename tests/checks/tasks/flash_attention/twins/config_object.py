# style: settings in a frozen dataclass, states merged by a function, generators of slices
from __future__ import annotations
from dataclasses import dataclass
import numpy as np


@dataclass(frozen=True)
class FlashConfig:
    tile_size: int = 64
    causal: bool = True


def tiles(n, t):
    return [slice(i, min(i + t, n)) for i in range(0, n, t)]


def merge(state, s, v):
    """Associative merge of softmax partials: (m, l, o)"""
    m0, l0, o0 = state
    m = np.maximum(m0, s.max(-1))
    z = np.where(np.isneginf(m), 0, m)
    p = np.exp(s - z[..., None])
    a = np.exp(m0 - z)
    return m, a * l0 + p.sum(-1), a[..., None] * o0 + p @ v


def flash_attention_fwd(Q: np.ndarray, K: np.ndarray, V: np.ndarray, config: FlashConfig) -> np.ndarray:
    *_, N, D = Q.shape
    O = np.empty_like(Q)
    for r in tiles(N, config.tile_size):
        q = Q[:, :, r] * np.asarray(D ** -0.5, Q.dtype)
        n = r.stop - r.start
        st = (np.full((*Q.shape[:2], n), -np.inf, Q.dtype), np.zeros((*Q.shape[:2], n), Q.dtype), np.zeros((*Q.shape[:2], n, D), Q.dtype))
        for c in tiles(N, config.tile_size):
            if config.causal and c.start >= r.stop:
                continue
            s = q @ K[:, :, c].transpose(0, 1, 3, 2)
            if config.causal:
                s = np.where(np.arange(r.start, r.stop)[:, None] >= np.arange(c.start, c.stop), s, np.asarray(-np.inf, Q.dtype))
            st = merge(st, s, V[:, :, c])
        m, l, o = st
        O[:, :, r] = o / np.where(l == 0, 1, l)[..., None]
    return O
