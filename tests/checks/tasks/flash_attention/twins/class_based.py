"""A class that is told tile and mask once; the state of a tile is an object."""
import numpy as np


class _Rows:
    def __init__(self, count, width):
        self.top = np.full(count, -np.inf)
        self.weight = np.zeros(count)
        self.sum = np.zeros((count, width))

    def add(self, scores, values):
        top = np.maximum(self.top, scores.max(axis=1))
        live = top > -np.inf
        with np.errstate(invalid="ignore"):
            keep = np.where(live, np.exp(self.top - top), 1.0)
            p = np.where(live[:, None], np.exp(scores - top[:, None]), 0.0)
        self.weight = self.weight * keep + p.sum(1)
        self.sum = self.sum * keep[:, None] + p @ values
        self.top = top

    def result(self):
        seen = self.weight > 0
        return np.where(seen[:, None], self.sum / np.where(seen, self.weight, 1.0)[:, None], 0.0)


class FlashAttention:
    def __init__(self, head_dim, block_size=16, causal=True):
        self.scale = 1.0 / np.sqrt(head_dim)
        self.block_size = block_size
        self.causal = causal

    def __call__(self, Q, K, V):
        return np.stack([np.stack([self._head(q, k, v) for q, k, v in zip(*heads)]) for heads in zip(Q, K, V)])

    def _head(self, q, k, v):
        n, step = len(q), self.block_size
        parts = []
        for a in range(0, n, step):
            rows = _Rows(len(q[a:a + step]), q.shape[1])
            for c in range(0, n, step):
                if self.causal and c >= a + step:
                    continue
                s = (q[a:a + step] * self.scale).dot(k[c:c + step].T)
                if self.causal and c + step > a:
                    i = np.arange(a, a + s.shape[0])[:, None]
                    s[np.arange(c, c + s.shape[1])[None, :] > i] = -np.inf
                rows.add(s, v[c:c + step])
            parts.append(rows.result())
        return np.concatenate(parts)
