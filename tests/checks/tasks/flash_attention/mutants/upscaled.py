# bug: the first maximum stays the reference and later tiles are scaled up
# caught by: rescaling_direction
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
                    if causal:
                        S = np.where(np.arange(i, end)[:, None] >= np.arange(j, stop), S, -np.inf)
                    top = S.max(axis=1)
                    m_new = np.where(np.isneginf(m), top, m)
                    safe = np.isfinite(m_new)
                    with np.errstate(invalid="ignore", over="ignore"):
                        corr = np.where(np.isneginf(m), 0.0, 1.0)
                        P = np.exp(S - m_new[:, None])
                    P = np.where(safe[:, None], P, 0.0)
                    corr = np.where(safe, corr, 1.0)
                    l = l * corr + P.sum(axis=1)
                    acc = acc * corr[:, None] + P @ V[b, h, j:stop]
                    m = m_new
                O[b, h, i:end] = acc / np.where(l > 0, l, 1.0)[:, None]
    return O
