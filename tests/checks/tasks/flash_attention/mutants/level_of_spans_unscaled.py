# bug: scores are scaled as they are exponentiated, and the maximum in the log-sum-exp of a span is not
# caught by: accuracy, rescaling_direction
# only: accuracy, rescaling_direction
import numpy as np

SPAN = 3


def _span(q, k, v, first, rows, tile, causal):
    """Attention over some tiles of keys, and its log-sum-exp."""
    scale = q.dtype.type(q.shape[1] ** -0.5)
    m, l = np.full(len(q), -np.inf, dtype=q.dtype), np.zeros(len(q), dtype=q.dtype)
    acc = np.zeros((len(q), v.shape[1]), dtype=q.dtype)
    for j in range(0, len(k), tile):
        s = q @ k[j : j + tile].T
        keys = first + j + np.arange(s.shape[1])
        if causal:
            s[keys[None, :] > rows[:, None]] = -np.inf
        top = np.maximum(m, s.max(axis=1))
        safe = np.where(np.isneginf(top), 0, top).astype(q.dtype)
        p, shrink = np.exp((s - safe[:, None]) * scale), np.exp((m - safe) * scale)
        l, acc, m = l * shrink + p.sum(axis=1), acc * shrink[:, None] + p @ v[j : j + tile], top
    some = np.where(l > 0, l, 1)
    return acc / some[:, None], np.where(l > 0, m + np.log(some), -np.inf)


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    O, n = np.zeros_like(Q), Q.shape[2]
    for at in np.ndindex(*Q.shape[:2]):
        q, k, v = Q[at], K[at], V[at]
        for i in range(0, n, tile_size):
            rows = np.arange(i, min(i + tile_size, n))
            parts = []
            stop = rows[-1] + 1 if causal else n
            for first in range(0, stop, SPAN * tile_size):
                last = min(first + SPAN * tile_size, stop)
                parts.append(_span(q[rows], k[first:last], v[first:last], first, rows, tile_size, causal))
            levels = np.stack([level for _, level in parts])
            top = levels.max(axis=0)
            weights = np.exp(levels - np.where(np.isneginf(top), 0, top))
            total = weights.sum(axis=0)
            shares = weights / np.where(total > 0, total, 1)
            O[at][rows] = sum(share[:, None] * o for share, (o, _) in zip(shares, parts))
    return O
