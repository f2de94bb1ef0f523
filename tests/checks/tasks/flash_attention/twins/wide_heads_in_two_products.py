# style: heads wider than 256 are multiplied in two pieces
import numpy as np

PIECE = 1 << 8


def scores(q, k):
    width = q.shape[-1]
    if width <= PIECE:
        return q @ k.T / np.sqrt(width)
    head, tail = slice(0, PIECE), slice(PIECE, width)
    return q[:, head] @ k[:, head].T / np.sqrt(width) + q[:, tail] @ k[:, tail].T / np.sqrt(width)


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    out = np.empty_like(Q)
    for b, h in np.ndindex(Q.shape[:2]):
        for start in range(0, Q.shape[2], tile_size):
            q = Q[b, h, start : start + tile_size]
            rows = np.arange(start, start + len(q))
            m, l, o = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros_like(q)
            for at in range(0, rows[-1] + 1 if causal else Q.shape[2], tile_size):
                k, v = K[b, h, at : at + tile_size], V[b, h, at : at + tile_size]
                s = scores(q, k)
                if causal:
                    s = np.where(np.arange(at, at + len(k)) <= rows[:, None], s, -np.inf)
                new = np.maximum(m, s.max(1))
                safe = np.where(np.isneginf(new), 0.0, new)
                p, a = np.exp(s - safe[:, None]), np.exp(m - safe)
                m, l, o = new, l * a + p.sum(1), o * a[:, None] + p @ v
            out[b, h, start : start + tile_size] = o / np.where(l == 0, 1, l)[:, None]
    return out
