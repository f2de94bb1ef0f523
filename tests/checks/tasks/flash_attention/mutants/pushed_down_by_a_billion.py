# bug: later keys are pushed down by 1e9 instead of hidden
# caught by: accuracy (warn)
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """Tiled attention with online softmax. Q, K, V: (B, H, N, D)."""
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    O = np.zeros_like(Q)
    for b in range(B):
        for h in range(H):
            for i0 in range(0, N, tile_size):
                i1 = min(i0 + tile_size, N)
                q = Q[b, h, i0:i1]
                m = np.full(i1 - i0, -np.inf, dtype=Q.dtype)
                l = np.zeros(i1 - i0, dtype=Q.dtype)
                acc = np.zeros((i1 - i0, D), dtype=Q.dtype)
                for j0 in range(0, N, tile_size):
                    if causal and j0 > i1 - 1:
                        break
                    j1 = min(j0 + tile_size, N)
                    s = (q @ K[b, h, j0:j1].T) * Q.dtype.type(scale)
                    if causal:
                        s = np.where(np.arange(i0, i1)[:, None] >= np.arange(j0, j1)[None, :], s, s - 1e9)
                    m_new = np.maximum(m, s.max(axis=1))
                    safe = np.where(np.isneginf(m_new), 0, m_new)
                    p = np.exp(s - safe[:, None])
                    alpha = np.exp(m - safe)
                    l = alpha * l + p.sum(axis=1)
                    acc = alpha[:, None] * acc + p @ V[b, h, j0:j1]
                    m = m_new
                O[b, h, i0:i1] = acc / np.where(l == 0, 1, l)[:, None]
    return O
