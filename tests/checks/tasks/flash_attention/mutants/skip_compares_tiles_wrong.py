# bug: the skip compares a key index with a tile count and never fires
# caught by: causal_skip
import numpy as np


class TiledAttention:
    """Online softmax over key tiles; told its tile once."""

    def __init__(self, tile_size=32, causal=True):
        self.tile = tile_size
        self.causal = causal

    def forward(self, q, k, v):
        out = np.zeros_like(q)
        for index in np.ndindex(q.shape[:2]):
            out[index] = self.one_head(q[index], k[index], v[index])
        return {"out": out, "tile": self.tile}

    def one_head(self, q, k, v):
        n, d = q.shape
        state_m = np.full((n, 1), -np.inf)
        state_l = np.zeros((n, 1))
        state_o = np.zeros((n, d))
        for lo in range(0, n, self.tile):
            hi = min(lo + self.tile, n)
            for first in range(0, n, self.tile):
                last = min(first + self.tile, n)
                if self.causal and last // self.tile <= lo // (n + 1) - 1:
                    continue
                rows = slice(first, last)
                s = q[rows] @ k[lo:hi].T / d ** 0.5
                if self.causal:
                    s = s + np.where(np.arange(first, last)[:, None] < np.arange(lo, hi), -np.inf, 0.0)
                m = np.maximum(state_m[rows], s.max(axis=1, keepdims=True))
                base = np.where(np.isneginf(m), 0.0, m)
                w = np.exp2((s - base) * np.log2(np.e))
                shrink = np.exp2((state_m[rows] - base) * np.log2(np.e))
                state_l[rows] = state_l[rows] * shrink + w.sum(axis=1, keepdims=True)
                state_o[rows] = state_o[rows] * shrink + w @ v[lo:hi]
                state_m[rows] = m
        return state_o / np.where(state_l > 0, state_l, 1.0)
