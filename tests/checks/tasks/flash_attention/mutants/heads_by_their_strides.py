# bug: where a head begins is counted by strides over that of a row, which holds row by row alone
# caught by: accuracy
# only: accuracy, causality
import numpy as np


def flash_attention(Q, K, V, tile_size=16, causal=False):
    B, H, N, D = Q.shape

    def rows(x, b, h):
        start = (b * x.strides[0] + h * x.strides[1]) // x.strides[2] if x.strides[2] > 0 else (b * H + h) * N
        return x.reshape(-1, D)[start : start + N]

    O = np.zeros((B, H, N, D), Q.dtype)
    for b in range(B):
        for h in range(H):
            q, k, v = (rows(x, b, h) for x in (Q, K, V))
            for i in range(0, N, tile_size):
                qi = q[i : i + tile_size]
                m = np.full(len(qi), -np.inf)
                l, acc = np.zeros(len(qi)), np.zeros((len(qi), D))
                for j in range(0, N, tile_size):
                    s = qi @ k[j : j + tile_size].T / np.sqrt(D)
                    if causal:
                        hidden = np.arange(j, min(j + tile_size, N)) > np.arange(i, i + len(qi))[:, None]
                        s = np.where(hidden, -np.inf, s)
                    new = np.maximum(m, s.max(axis=1))
                    base = np.where(np.isneginf(new), 0.0, new)
                    p, keep = np.exp(s - base[:, None]), np.exp(m - base)
                    l, acc, m = keep * l + p.sum(axis=1), keep[:, None] * acc + p @ v[j : j + tile_size], new
                O[b, h, i : i + tile_size] = acc / np.where(l > 0, l, 1.0)[:, None]
    return O
