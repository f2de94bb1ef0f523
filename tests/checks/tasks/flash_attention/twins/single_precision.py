# warns: accuracy
"""Right, in float32 whatever comes in."""
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    Q, K, V = (np.asarray(x, dtype=np.float32) for x in (Q, K, V))
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    scale = np.float32(1 / np.sqrt(D))
    for b, h in np.ndindex(B, H):
        for i in range(0, N, tile_size):
            q = Q[b, h, i:i + tile_size] * scale
            m = np.full((len(q), 1), -np.inf, np.float32)
            l = np.zeros((len(q), 1), np.float32)
            acc = np.zeros((len(q), D), np.float32)
            for j in range(0, N, tile_size):
                if causal and j >= i + len(q):
                    continue
                s = q @ K[b, h, j:j + tile_size].T
                if causal:
                    s = np.where(np.arange(i, i + len(q))[:, None] < np.arange(j, j + s.shape[1]), np.float32(-np.inf), s)
                new = np.maximum(m, s.max(1, keepdims=True))
                zero = np.isneginf(new)
                p = np.exp(s - np.where(zero, np.float32(0), new))
                a = np.exp(np.where(zero, np.float32(0), m - np.where(zero, np.float32(0), new)))
                l, acc, m = a * l + p.sum(1, keepdims=True), a * acc + p @ V[b, h, j:j + tile_size], new
            O[b, h, i:i + tile_size] = acc / np.maximum(l, np.float32(1e-30))
    return O
