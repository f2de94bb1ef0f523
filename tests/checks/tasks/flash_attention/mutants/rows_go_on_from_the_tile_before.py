# bug: what a tile of rows gathered is not set back for the next one
# caught by: accuracy
# passes: causality
# only: accuracy, causality
import numpy as np


class FlashAttention:
    def __init__(self, tile_size=16):
        self.tile_size = tile_size

    def forward(self, q, k, v, causal=True):
        batch, heads, n, d = q.shape
        t = min(self.tile_size, n)
        out = np.zeros(q.shape)
        for b in range(batch):
            for h in range(heads):
                m, l, o = np.full(t, -np.inf), np.zeros(t), np.zeros((t, d))
                for i in range(0, n, t):
                    w = min(t, n - i)
                    for j in range(0, i + w if causal else n, t):
                        s = q[b, h, i : i + w] @ k[b, h, j : j + t].T / np.sqrt(d)
                        if causal:
                            s = np.where(np.arange(j, j + s.shape[1]) > np.arange(i, i + w)[:, None], -np.inf, s)
                        top = np.maximum(m[:w], s.max(axis=1))
                        top = np.where(np.isneginf(top), 0.0, top)
                        p, c = np.exp(s - top[:, None]), np.exp(m[:w] - top)
                        m[:w], l[:w] = top, l[:w] * c + p.sum(axis=1)
                        o[:w] = o[:w] * c[:, None] + p @ v[b, h, j : j + t]
                    out[b, h, i : i + w] = o[:w] / np.where(l[:w] > 0, l[:w], 1.0)[:, None]
        return out
