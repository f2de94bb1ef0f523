# bug: every tile takes its own maximum, and what was gathered is scaled up where that falls
# caught by: rescaling_direction
# only: rescaling_direction, purity
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    """Tiled attention with an online softmax; (B, H, N, D)."""
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    O = np.zeros((B, H, N, D))
    n_tiles = (N + tile_size - 1) // tile_size
    for b in range(B):
        for h in range(H):
            q, k, v = Q[b, h], K[b, h], V[b, h]
            for i in range(n_tiles):
                r0, r1 = i * tile_size, min((i + 1) * tile_size, N)
                m = np.full(r1 - r0, -np.inf)
                l = np.zeros(r1 - r0)
                acc = np.zeros((r1 - r0, D))
                for j in range(i + 1 if causal else n_tiles):
                    c0, c1 = j * tile_size, min((j + 1) * tile_size, N)
                    s = q[r0:r1] @ k[c0:c1].T * scale
                    hidden = np.arange(c0, c1)[None, :] > np.arange(r0, r1)[:, None]
                    if causal:
                        s = np.where(hidden, -np.inf, s)
                    m_new = s.max(axis=1)
                    safe = np.where(np.isfinite(m_new), m_new, 0.0)
                    p = np.exp(s - safe[:, None])
                    corr = np.exp(m - safe)
                    l = l * corr + p.sum(axis=1)
                    acc = acc * corr[:, None] + p @ v[c0:c1]
                    m = m_new
                O[b, h, r0:r1] = acc / np.where(l > 0, l, 1.0)[:, None]
    return O
