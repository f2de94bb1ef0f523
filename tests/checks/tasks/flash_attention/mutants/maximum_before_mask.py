# bug: the tile's maximum is taken over hidden keys too
# caught by: causality
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    O = np.zeros_like(Q)
    for b in range(B):
        for h in range(H):
            for i in range(0, N, tile_size):
                end = min(i + tile_size, N)
                q = Q[b, h, i:end] * scale
                m = np.full(end - i, -np.inf)
                l = np.zeros(end - i)
                acc = np.zeros((end - i, D))
                for j in range(0, N, tile_size):
                    if causal and j > end - 1:
                        continue
                    stop = min(j + tile_size, N)
                    S = q @ K[b, h, j:stop].T
                    top = S.max(axis=1)
                    if causal:
                        S = np.where(np.arange(i, end)[:, None] >= np.arange(j, stop), S, -np.inf)
                    m_new = np.maximum(m, top)
                    safe = np.isfinite(m_new)
                    with np.errstate(invalid="ignore", over="ignore"):
                        corr = np.exp(m - m_new)
                        P = np.exp(S - m_new[:, None])
                    P = np.where(safe[:, None], P, 0.0)
                    corr = np.where(safe, corr, 1.0)
                    l = l * corr + P.sum(axis=1)
                    acc = acc * corr[:, None] + P @ V[b, h, j:stop]
                    m = m_new
                O[b, h, i:end] = acc / np.where(l > 0, l, 1.0)[:, None]
    return O
