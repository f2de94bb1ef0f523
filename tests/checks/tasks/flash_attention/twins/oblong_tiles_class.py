# style: a class that keeps query tiles of 32 and key tiles of 16, told to its constructor
import numpy as np


class TiledAttention:
    def __init__(self, block_q=32, block_k=16, causal=True):
        self.block_q, self.block_k, self.causal = block_q, block_k, causal

    def __call__(self, q, k, v):
        length, scale = q.shape[-2], q.shape[-1] ** -0.5
        out = np.zeros(q.shape)
        for first in range(0, length, self.block_q):
            rows = slice(first, min(first + self.block_q, length))
            top = np.full((*q.shape[:2], rows.stop - first, 1), -np.inf)
            total, acc = np.zeros_like(top), np.zeros((*top.shape[:3], q.shape[-1]))
            for index in range(self.key_tiles(first // self.block_q, length)):
                cols = slice(index * self.block_k, min((index + 1) * self.block_k, length))
                s = q[:, :, rows] @ np.swapaxes(k[:, :, cols], -1, -2) * scale
                if self.causal:
                    ahead = np.arange(cols.start, cols.stop) > np.arange(first, rows.stop)[:, None]
                    s = np.where(ahead, -np.inf, s)
                new = np.maximum(top, s.max(-1, keepdims=True))
                base = np.where(np.isneginf(new), 0.0, new)
                p, fade = np.exp(s - base), np.exp(top - base)
                total, acc, top = total * fade + p.sum(-1, keepdims=True), acc * fade + p @ v[:, :, cols], new
            out[:, :, rows] = acc / np.where(total > 0, total, 1.0)
        return out

    def key_tiles(self, query_tile, length):
        seen = min((query_tile + 1) * self.block_q, length) if self.causal else length
        return -(-seen // self.block_k)
