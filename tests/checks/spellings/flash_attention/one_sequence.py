"""One sequence: (H, N, D)."""
import numpy as np


def tiled_attention(queries, keys, values, *, tile=16, causal=True):
    heads, length, width = queries.shape
    result = np.zeros_like(queries)
    for h in range(heads):
        for top in range(0, length, tile):
            q = queries[h, top : top + tile] * width**-0.5
            peak = np.full(q.shape[0], -np.inf)
            weight = np.zeros(q.shape[0])
            mixed = np.zeros_like(q)
            for left in range(0, top + tile if causal else length, tile):
                k, v = keys[h, left : left + tile], values[h, left : left + tile]
                if not len(k):
                    break
                s = q @ k.T
                if causal:
                    s += np.where(np.arange(left, left + len(k)) > np.arange(top, top + len(q))[:, None], -np.inf, 0)
                higher = np.maximum(peak, s.max(axis=1))
                finite = np.where(np.isinf(higher), 0, higher)
                p = np.exp(s - finite[:, None])
                shrink = np.exp(peak - finite)
                weight = weight * shrink + p.sum(axis=1)
                mixed = mixed * shrink[:, None] + p @ v
                peak = higher
            result[h, top : top + tile] = mixed / np.maximum(weight, 1e-300)[:, None]
    return result
